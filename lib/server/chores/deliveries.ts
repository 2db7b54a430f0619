import type { Clock } from '../../async/clock.ts'
import { every, type Repeating } from '../../async/every.ts'
import type { AccountId } from '../../protocol/wire/ids.ts'
import type { ChannelKind } from '../../protocol/wire/notifications.ts'
import type { DeliveryResult, DueDelivery, NoticeStore } from '../../store/notices.ts'
import type { Outgoing, PushProvider, SendOutcome } from '../push.ts'
import type { Metrics } from '../watch/metrics.ts'
import type { Claim } from './claim.ts'
import { wordsFor } from './notice-words.ts'

const minuteMs = 60_000
/** The time limit of one request. */
const sendWithinMs = 10_000
/** An attempt of a process that died is repeated after this. */
const heldMs = minuteMs
/** Requests in progress to one kind of channel, and for one account; a request with many deliveries counts once. */
const mostUnderWay = 8
const mostOfAnAccount = 4
/** Checked even when nothing is known to be due: another instance may have died, or the clock been changed. */
const lookEveryMs = minuteMs
/** After a quarter of an hour Expo knows the result of nearly all. */
const ticketAfterMs = 15 * minuteMs
const mostLooks = 6
const keepMs = 30 * 24 * 60 * minuteMs
const forgetEveryMs = 60 * minuteMs
const forgetAtOnce = 500

const firstWaitMs = 5_000
const longestWaitMs = 60 * minuteMs
const longestRetryAfterMs = 6 * 60 * minuteMs

interface DeliveriesDeps {
  store: Pick<NoticeStore, 'claimDeliveries' | 'endDeliveries' | 'nextDelivery' | 'forgetNotices'>
  providers: readonly PushProvider[]
  /** Whether an app of the account is in use. */
  isWatched(account: AccountId): Promise<boolean>
  clock: Clock
  /** The store's, so that all instances agree what is due and what another one holds. */
  time: () => number
  claim: Claim
  /** Whether the clock is reliable enough to remove old data permanently. */
  mayRemove: () => boolean
  random?: () => number
  metrics: Pick<Metrics, 'delivered'>
  onError: (error: unknown) => void
}

/**
 * Sends due deliveries, each kind of channel in its own lane, so that a hanging provider delays none of the
 * others. The queue's guarantees are the store's: this only looks up what is due, tries, and records the
 * result.
 */
export class Deliveries {
  readonly #deps: DeliveriesDeps
  readonly #lanes: Lane[]
  readonly #waiting = new Map<string, { left: number; resolve: () => void }>()
  readonly #forgetting: Repeating

  constructor(deps: DeliveriesDeps) {
    this.#deps = deps
    const clears = deps.providers.filter(provider => provider.clears).map(({ kind }) => kind)
    this.#lanes = deps.providers.map(provider => new Lane(deps, provider, clears, delivery => this.#tried(delivery)))
    this.wake()
    this.#forgetting = every(deps.clock, forgetEveryMs, () => this.#forget(), deps.onError)
  }

  /** Something is new: checks at once instead of at the next known time. */
  wake(): void {
    for (const lane of this.#lanes) lane.wake()
  }

  /** Resolves once this many deliveries of a notice were first tried here, or the time is up. */
  firstTry(account: AccountId, notice: string, count: number, withinMs: number): Promise<void> {
    if (count === 0) return Promise.resolve()
    const name = nameOf(account, notice)
    return new Promise(resolve => {
      const done = () => {
        cancel()
        this.#waiting.delete(name)
        resolve()
      }
      const cancel = this.#deps.clock.after(withinMs, done)
      this.#waiting.set(name, { left: count, resolve: done })
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.#forgetting.close(), ...this.#lanes.map(lane => lane.close())])
    for (const { resolve } of [...this.#waiting.values()]) resolve()
  }

  #tried({ account, attempts, notice }: DueDelivery): void {
    const waiting = attempts === 1 ? this.#waiting.get(nameOf(account, notice.id)) : undefined
    if (!waiting) return
    waiting.left -= 1
    if (waiting.left === 0) waiting.resolve()
  }

  async #forget(): Promise<void> {
    const { store, time, claim, mayRemove } = this.#deps
    while (mayRemove() && (await claim('forget-notices')) && (await store.forgetNotices(time() - keepMs, forgetAtOnce)) === forgetAtOnce);
  }
}

function nameOf(account: AccountId, notice: string): string {
  return `${account} ${notice}`
}

/** One kind of channel. */
class Lane {
  readonly #deps: DeliveriesDeps
  readonly #provider: PushProvider
  readonly #clears: readonly ChannelKind[]
  readonly #onTried: (delivery: DueDelivery) => void
  readonly #inFlight = new Set<Promise<void>>()
  readonly #byAccount = new Map<AccountId, number>()
  readonly #closing = new AbortController()
  #cancel: () => void = () => {}
  #round: Promise<void> | undefined
  #isWoken = false

  constructor(deps: DeliveriesDeps, provider: PushProvider, clears: readonly ChannelKind[], onTried: (delivery: DueDelivery) => void) {
    this.#deps = deps
    this.#provider = provider
    this.#clears = clears
    this.#onTried = onTried
  }

  wake(): void {
    this.#isWoken = true
    if (this.#round || this.#closing.signal.aborted) return
    this.#cancel()
    this.#round = this.#run().finally(() => {
      this.#round = undefined
      if (this.#isWoken) this.wake()
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#isWoken = false
    this.#cancel()
    await this.#round
    await Promise.all(this.#inFlight)
    this.#cancel()
  }

  async #run(): Promise<void> {
    this.#isWoken = false
    try {
      while (this.#inFlight.size < mostUnderWay && !this.#closing.signal.aborted) {
        const claimedAt = this.#deps.clock.now()
        const due = await this.#claim()
        if (due.length === 0) break
        for (const batch of this.#batches(due)) this.#begin(batch, claimedAt)
      }
      await this.#plan()
    } catch (error) {
      this.#deps.onError(error)
      this.#later(lookEveryMs)
    }
  }

  async #claim(): Promise<DueDelivery[]> {
    const { store, time } = this.#deps
    const { kind, mostAtOnce } = this.#provider
    const busy = [...this.#byAccount].filter(([, count]) => count >= mostOfAnAccount).map(([account]) => account)
    const limit = mostAtOnce > 1 ? mostAtOnce : mostUnderWay - this.#inFlight.size
    return store.claimDeliveries({
      kind,
      now: time(),
      heldUntil: time() + heldMs,
      limit,
      ofAnAccount: Math.max(mostOfAnAccount, mostAtOnce),
      busy
    })
  }

  /** One request each: lookups, and sends. */
  #batches(due: readonly DueDelivery[]): DueDelivery[][] {
    const looks = due.filter(({ what }) => what === 'look')
    const sends = due.filter(({ what }) => what !== 'look')
    return [looks, sends].flatMap(list => chunksOf(list, this.#provider.mostAtOnce))
  }

  #begin(batch: DueDelivery[], claimedAt: number): void {
    const accounts = new Set(batch.map(({ account }) => account))
    for (const account of accounts) this.#byAccount.set(account, (this.#byAccount.get(account) ?? 0) + 1)
    const attempt = this.#attempt(batch, claimedAt)
      .catch(this.#deps.onError)
      .finally(() => {
        this.#inFlight.delete(attempt)
        for (const account of accounts) {
          const left = (this.#byAccount.get(account) ?? 1) - 1
          if (left > 0) this.#byAccount.set(account, left)
          else this.#byAccount.delete(account)
        }
        this.wake()
      })
    this.#inFlight.add(attempt)
  }

  async #attempt(batch: readonly DueDelivery[], claimedAt: number): Promise<void> {
    const watched = await this.#watched(batch)
    // This process was stopped meanwhile: by the time a provider answers, another instance may have sent it.
    if (this.#deps.clock.now() - claimedAt > heldMs - sendWithinMs) return
    const keys = new Set(watched.map(({ key }) => key))
    const results = [...watched, ...(await this.#send(batch.filter(({ key }) => !keys.has(key))))]
    await this.#deps.store.endDeliveries(results, this.#clears)
    const whats = new Map(batch.map(({ key, what }) => [key, what]))
    for (const { key, outcome } of results) {
      if (isCounted(whats.get(key), outcome)) this.#deps.metrics.delivered(this.#provider.kind, outcome)
    }
    for (const delivery of batch) this.#onTried(delivery)
  }

  /** While an app is in use, notices that would only disturb need no request. */
  async #watched(batch: readonly DueDelivery[]): Promise<DeliveryResult[]> {
    const asked = batch.filter(({ what, unlessWatched }) => what === 'show' && unlessWatched)
    const answers = new Map([...new Set(asked.map(({ account }) => account))].map(account => [account, this.#deps.isWatched(account)]))
    const results: DeliveryResult[] = []
    for (const { key, account } of asked)
      if (await answers.get(account)) results.push({ key, outcome: 'watched', reason: null, at: this.#deps.time() })
    return results
  }

  async #send(batch: readonly DueDelivery[]): Promise<DeliveryResult[]> {
    if (batch.length === 0) return []
    const giveUp = new AbortController()
    const cancel = this.#deps.clock.after(sendWithinMs, () => giveUp.abort())
    const signal = AbortSignal.any([giveUp.signal, this.#closing.signal])
    try {
      const isLook = batch[0]?.what === 'look'
      const outcomes =
        isLook && this.#provider.look
          ? await this.#provider.look(
              batch.map(({ ticket }) => ticket ?? ''),
              signal
            )
          : await this.#provider.send(
              batch.map(delivery => this.#outgoing(delivery)),
              signal
            )
      return batch.map((delivery, index) => this.#resultOf(delivery, outcomes[index] ?? { outcome: 'busy' }))
    } finally {
      cancel()
    }
  }

  #outgoing({ token, receipt, what, isSilent, isCollected, language, notice }: DueDelivery): Outgoing {
    const { id, kind, session, title, body, preview, createdAt, expiresAt } = notice
    const usual = {
      token,
      notice: id,
      receipt,
      what: what === 'clear' ? ('clear' as const) : ('show' as const),
      isSilent,
      lastsMs: Math.max(0, expiresAt - this.#deps.time()),
      createdAt,
      language
    }
    if (isCollected && what === 'show')
      return { ...usual, kind: 'digest', session: undefined, preview: undefined, ...wordsFor('digest', language) }
    const words = title === '' ? wordsFor(kind, language) : { title, body }
    return { ...usual, kind, session: session ?? undefined, preview: preview ?? undefined, ...words }
  }

  #resultOf(delivery: DueDelivery, sent: SendOutcome): DeliveryResult {
    const { key, what, attempts, notice } = delivery
    const at = this.#deps.time()
    const reason = 'reason' in sent ? (sent.reason ?? null) : null
    switch (sent.outcome) {
      case 'accepted': {
        const ticket = what === 'show' ? sent.ticket : undefined
        return { key, outcome: 'accepted', reason: null, at, ...(ticket !== undefined && { ticket, lookAt: at + ticketAfterMs }) }
      }
      case 'gone':
        // A service that cannot clear answers 404 too; whether the channel is gone shows with the next
        // notice.
        return { key, outcome: what === 'clear' ? 'refused' : 'gone', reason, at }
      case 'refused':
      case 'unknown':
        return { key, outcome: sent.outcome, reason, at }
      case 'busy':
      case 'unreachable': {
        if (what === 'look')
          return attempts > mostLooks ? { key, outcome: 'accepted', reason, at } : this.#again(key, at, attempts, sent.retryAfterMs, reason)
        const again = this.#again(key, at, attempts, sent.retryAfterMs, reason ?? sent.outcome)
        return again.outcome === 'waiting' && again.dueAt >= notice.expiresAt ? { key, outcome: 'expired', reason, at } : again
      }
    }
  }

  #again(key: number, at: number, attempts: number, retryAfterMs = 0, reason: string | null): DeliveryResult {
    const { random = Math.random } = this.#deps
    const wait = Math.min(longestWaitMs, firstWaitMs * 3 ** (attempts - 1)) * (0.75 + random() / 2)
    return { key, outcome: 'waiting', reason, attempts, dueAt: Math.ceil(at + Math.max(wait, Math.min(retryAfterMs, longestRetryAfterMs))) }
  }

  async #plan(): Promise<void> {
    const { store, time } = this.#deps
    if (this.#inFlight.size >= mostUnderWay) return
    const next = await store.nextDelivery(this.#provider.kind)
    const inMs = next === undefined ? lookEveryMs : Math.min(lookEveryMs, next - time())
    // A due delivery that was not claimed waits for one in progress, whose end wakes this lane.
    if (inMs > 0 || this.#inFlight.size === 0) this.#later(Math.max(inMs, 20))
  }

  #later(ms: number): void {
    this.#cancel()
    if (!this.#closing.signal.aborted) this.#cancel = this.#deps.clock.after(ms, () => this.wake())
  }
}

/** Clearing delivers nothing, and of later lookups only failures are news. */
function isCounted(what: DueDelivery['what'] | undefined, outcome: DeliveryResult['outcome']): boolean {
  return what === 'show' || (what === 'look' && outcome !== 'accepted' && outcome !== 'waiting')
}

function chunksOf<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size))
}
