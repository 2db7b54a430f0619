import { type Clock, systemClock } from '../../async/clock.ts'
import { pause } from '../../async/pause.ts'
import type { MessageRecord } from '../../protocol/wire/records.ts'
import { Refused } from '../link/refusals.ts'
import { createRetrier, type Retrier } from '../link/retry.ts'
import type { LiveSocket } from '../link/socket.ts'
import type { Draft } from '../sealed/messages.ts'
import { draftKey, type Journal } from './journal.ts'
import { recordsOf, type SendMessages } from './send-messages.ts'
import { createWaitingDrafts, type WaitingDrafts } from './waiting-drafts.ts'

export type OutboxState =
  | { type: 'idle' }
  | { type: 'sending' }
  /**
   * `nextTryAt` is wall-clock time in milliseconds, for the screen. `isFull`: the server, or this
   * account on it, has no space.
   */
  | { type: 'waiting'; reason: string; nextTryAt: number; isFull: boolean }
  /** The token is invalid (401, 403). Everything is kept; `wake` tries again. */
  | { type: 'refused'; refusal: Refused }
  | { type: 'closed' }

export interface Outbox {
  readonly state: OutboxState
  /** In sending order, including those in flight. */
  readonly pending: readonly Draft[]
  /**
   * Resolves once the draft is in the journal; from then on it reaches the server. Rejects with
   * `OutboxFull` or the journal's error. `beyondLimit`: for the few messages that report that space
   * has run out.
   */
  put(draft: Draft, how?: { beyondLimit?: boolean }): Promise<void>
  /**
   * Withdraws a draft. `perhaps-stored`: it is not sent again, but the answer to an earlier attempt
   * was lost. `too-late`: it is in flight, or no longer here.
   */
  withdraw(draft: Pick<Draft, 'session' | 'localId'>): Promise<'withdrawn' | 'perhaps-stored' | 'too-late'>
  /** Resolves when nothing is pending, at once if so; not while the outbox is refused or closed. */
  idle(): Promise<void>
  /** The network is back, or there is a new token: tries at once instead of waiting. */
  wake(): void
  /**
   * There is a new connection: like `wake`, and requests in flight on the old one, which may never be
   * answered, are sent again.
   */
  restart(): void
  /** Stops sending and closes the journal; what is pending stays there. */
  close(): Promise<void>
}

export interface OutboxOptions {
  journal: Journal
  send: SendMessages
  /** What the server has stored, with its seqs: pass it to `feed.take`. Called in the order of storing. */
  onStored?: ((messages: readonly MessageRecord[], session: string) => void) | undefined
  /**
   * The server will never accept this draft (too large, session deleted). It leaves the journal when
   * this has resolved, so a caller that offers "Try again" has to save it first. Later drafts are
   * still sent.
   */
  onSetAside(draft: Draft, refusal: Refused): void | Promise<void>
  /** There was no space left, and these drafts were expendable. */
  onDropped?: ((drafts: readonly Draft[]) => void) | undefined
  onState?: ((state: OutboxState) => void) | undefined
  /** The pending drafts, at first and after every change. */
  onChange?: ((pending: readonly Draft[]) => void) | undefined
  /** Tries at once whenever this becomes live. */
  socket?: Pick<LiveSocket, 'onState'> | undefined
  /** Bytes of content that may be pending; 256 MiB by default. */
  limitBytes?: number | undefined
  /**
   * Minimum time between the starts of two requests: drafts close together are sent together. None by
   * default.
   */
  gatherMs?: number | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

/** More is pending than `limitBytes` allows; this draft was not accepted. */
export class OutboxFull extends Error {
  override name = 'OutboxFull'
}

/**
 * Messages that reach the server whatever happens to the network, the server or this process:
 * journaled first, then sent in order, one request at a time, until the server has them [W1 W5]. Each
 * session's messages keep their order. Resolves when what an earlier process left has been loaded.
 */
export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  return new JournaledOutbox(options, await options.journal.load())
}

const mostPerBatch = 50
const usualLimitBytes = 256 * 1024 * 1024
const noRoom = 507
/** Short, since a person waits for the pending drafts. */
const longestWaitMs = 5_000

class JournaledOutbox implements Outbox {
  state: OutboxState

  readonly #options: OutboxOptions
  readonly #end = new AbortController()
  readonly #retrier: Retrier
  readonly #unlisten: (() => void) | undefined
  /** A draft counts once the journal has it. */
  readonly #waiting: WaitingDrafts
  #isFlushing = false
  #idle: PromiseWithResolvers<void> | undefined
  /**
   * Additions and removals reach the journal one at a time; additions made while it is busy share its
   * next write.
   */
  #journalWork: Promise<void> = Promise.resolve()
  #sentAt = Number.NEGATIVE_INFINITY
  /** Additions that the journal does not have yet, by draft: those being written and those of the next write. */
  readonly #putting = new Map<string, Promise<void>>()
  /** Those of the next write. */
  #puts: { draft: Draft; settle: PromiseWithResolvers<void> }[] = []

  constructor(options: OutboxOptions, left: readonly Draft[]) {
    this.#options = options
    const { clock, random, socket, limitBytes = usualLimitBytes } = options
    this.#waiting = createWaitingDrafts(left, limitBytes)
    this.#unlisten = socket?.onState(state => state.type === 'live' && this.wake())
    this.#retrier = createRetrier({
      signal: this.#end.signal,
      clock,
      random,
      longestMs: longestWaitMs,
      onWait: (error, waitMs) =>
        this.#enter({ type: 'waiting', reason: error.message, nextTryAt: Date.now() + waitMs, isFull: error.status === noRoom })
    })
    this.state = { type: left.length > 0 ? 'sending' : 'idle' }
    this.#tellChange()
    if (left.length > 0) this.#flush()
  }

  get pending(): readonly Draft[] {
    return this.#waiting.all
  }

  async put(draft: Draft, { beyondLimit = false }: { beyondLimit?: boolean } = {}): Promise<void> {
    this.#end.signal.throwIfAborted()
    if (this.#waiting.get(draft)) return
    const key = draftKey(draft)
    const earlier = this.#putting.get(key)
    if (earlier) return earlier
    if (!this.#waiting.hasRoom(draft)) this.#dropExpendable(draft)
    if (!this.#waiting.hasRoom(draft) && !beyondLimit) throw new OutboxFull('too much data is waiting for the server')
    this.#waiting.reserve(draft)
    const settle = Promise.withResolvers<void>()
    this.#putting.set(key, settle.promise)
    this.#puts.push({ draft, settle })
    if (this.#puts.length === 1) this.#writeJournal(() => this.#journalPuts())
    return settle.promise
  }

  async withdraw(draft: Pick<Draft, 'session' | 'localId'>): Promise<'withdrawn' | 'perhaps-stored' | 'too-late'> {
    const known = this.#waiting.get(draft)
    if (!known || this.#waiting.isUnderway(draft)) return 'too-late'
    const wasTried = this.#waiting.wasTried(draft)
    const forgotten = this.#forget([known])
    // An edited message is put again under its id, which the server may have stored.
    if (wasTried) this.#waiting.noteTried(draft)
    await forgotten
    return wasTried ? 'perhaps-stored' : 'withdrawn'
  }

  async idle(): Promise<void> {
    if (this.#waiting.size === 0 && this.#putting.size === 0) return
    this.#idle ??= Promise.withResolvers()
    return this.#idle.promise
  }

  wake(): void {
    if (this.#isFlushing) this.#retrier.hurry()
    else this.#flush()
  }

  restart(): void {
    if (this.#isFlushing) this.#retrier.restart()
    else this.#flush()
  }

  async close(): Promise<void> {
    if (this.state.type === 'closed') return
    this.#end.abort(new Error('the outbox was closed'))
    this.#unlisten?.()
    this.#enter({ type: 'closed' })
    await this.#journalWork
    await this.#options.journal.close()
  }

  /**
   * Drops expendable drafts, the oldest first, until there is space for a draft or nothing more to
   * drop [W3].
   */
  #dropExpendable(draft: Draft): void {
    const dropped = this.#waiting.expendableFor(draft)
    if (dropped.length === 0) return
    void this.#forget(dropped)
    this.#options.onDropped?.(dropped)
  }

  #enter(state: OutboxState): void {
    if (this.state.type === 'closed' || (state.type === this.state.type && state.type !== 'waiting')) return
    this.state = state
    this.#options.onState?.(state)
  }

  #tellChange(): void {
    this.#options.onChange?.(this.pending)
  }

  #writeJournal(work: () => Promise<void>): Promise<void> {
    this.#journalWork = this.#journalWork.then(work)
    return this.#journalWork
  }

  async #journalPuts(): Promise<void> {
    const puts = this.#puts
    this.#puts = []
    try {
      await this.#options.journal.append(puts.map(put => put.draft))
      for (const { draft, settle } of puts) {
        this.#putting.delete(draftKey(draft))
        this.#waiting.add(draft)
        settle.resolve()
      }
      this.#tellChange()
    } catch (error) {
      for (const { draft, settle } of puts) {
        this.#putting.delete(draftKey(draft))
        this.#waiting.unreserve(draft)
        settle.reject(error)
      }
    }
    if (this.state.type !== 'refused') this.#flush()
  }

  /**
   * The server has these or never will. If the journal fails here, they are only sent once more after
   * a restart.
   */
  #forget(drafts: readonly Draft[]): Promise<void> {
    for (const draft of drafts) this.#waiting.remove(draft)
    this.#tellChange()
    return this.#writeJournal(() => this.#options.journal.remove(drafts).catch(() => {}))
  }

  #flush(): void {
    if (this.#isFlushing || this.#end.signal.aborted) return
    this.#isFlushing = true
    this.#sendAll().then(
      () => {
        this.#isFlushing = false
        // Drafts added since the last batch was selected found the outbox still busy.
        if (this.#waiting.size > 0) return this.#flush()
        this.#enter({ type: 'idle' })
        if (this.#putting.size > 0) return
        this.#idle?.resolve()
        this.#idle = undefined
      },
      error => {
        this.#isFlushing = false
        if (this.#end.signal.aborted) return
        if (!(error instanceof Refused)) throw error
        this.#enter({ type: 'refused', refusal: error })
      }
    )
  }

  async #sendAll(): Promise<void> {
    let most = mostPerBatch
    for (let batch = await this.#gather(most); batch.length > 0; batch = await this.#gather(most)) {
      const refusal = await this.#sendBatch(batch)
      if (!refusal) continue
      if (isAboutCaller(refusal)) throw refusal
      // One draft that can never be stored must not fail its neighbours, so it is found by bisection.
      if (batch.length > 1 && !isAboutSession(refusal)) most = Math.ceil(batch.length / 2)
      else {
        most = mostPerBatch
        await this.#setAside(batch, refusal)
      }
    }
  }

  async #gather(most: number): Promise<Draft[]> {
    if (this.#waiting.size === 0) return []
    const { gatherMs = 0, clock = systemClock } = this.#options
    const waitMs = this.#sentAt + gatherMs - clock.now()
    if (waitMs > 0) await pause(waitMs, { signal: this.#end.signal, clock })
    this.#sentAt = clock.now()
    return this.#waiting.nextBatch(most)
  }

  /** The rejection, if the server will not accept this batch. */
  async #sendBatch(batch: readonly Draft[]): Promise<Refused | undefined> {
    try {
      await this.#retrier.attempt(signal => this.#trySending(batch, signal))
      return undefined
    } catch (error) {
      if (error instanceof Refused) return error
      throw error
    }
  }

  async #trySending(batch: readonly Draft[], signal: AbortSignal): Promise<void> {
    // Their current form: a withdrawn one may have been added again with new text.
    const drafts = batch.flatMap(draft => this.#waiting.get(draft) ?? [])
    const session = drafts[0]?.session
    if (session === undefined) return
    this.#enter({ type: 'sending' })
    this.#waiting.setUnderway(drafts)
    try {
      const receipts = await this.#options.send(session, drafts, signal)
      this.#options.onStored?.(recordsOf(receipts, drafts), session)
      void this.#forget(drafts)
    } finally {
      this.#waiting.setUnderway([])
    }
  }

  async #setAside(batch: readonly Draft[], refusal: Refused): Promise<void> {
    for (const draft of batch) {
      if (!this.#waiting.remove(draft)) continue
      try {
        await this.#options.onSetAside(draft, refusal)
      } catch {
        // No handler stored it: it stays in the journal and is retried by the next process.
        this.#tellChange()
        continue
      }
      void this.#forget([draft])
    }
  }
}

function isAboutCaller({ status }: Refused): boolean {
  return status === 401 || status === 403
}

/** Not found, or no numbers left: no message of this session will ever be stored. */
function isAboutSession({ status }: Refused): boolean {
  return status === 404 || status === 409
}
