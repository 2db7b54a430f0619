import type { Clock } from '../../async/clock.ts'
import type { MessageRecord } from '../../protocol/wire/records.ts'
import { Refused } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'
import { createRetrier, type Retrier } from '../link/retry.ts'
import type { LiveSocket } from '../link/socket.ts'

export type FeedState =
  /** Reading what was missed; nothing new is lost meanwhile. */
  | { type: 'catching-up' }
  /** Everything on the server was delivered, and new messages arrive live. */
  | { type: 'live' }
  /** No link. What was delivered is the last known state. */
  | { type: 'away' }
  /** Final: the session is gone (404) or the token is invalid (401). */
  | { type: 'ended'; refusal: Refused }
  | { type: 'closed' }

export interface Feed {
  /** The seq up to which everything was delivered; undefined before the first page of `after: 'end'`. */
  readonly cursor: number | undefined
  readonly state: FeedState
  /**
   * What the outbox stored, from its `onStored`: the server does not send it back to the connection
   * that posted it. Delivered to `onMessages` like everything else, in order and once.
   */
  take(messages: readonly MessageRecord[]): void
  /** Older messages for scrolling back, ascending; does not move the cursor. Rejects like `rest.call`. */
  readBefore(seq: number, limit: number): Promise<{ messages: MessageRecord[]; hasMore: boolean }>
  /** Resolves the next time the feed is live, at once if it is; rejects when it has ended or was closed. */
  caughtUp(): Promise<void>
  close(): void
}

interface FeedOptions {
  rest: Pick<Rest, 'call'>
  socket: Pick<LiveSocket, 'state' | 'onState' | 'onUpdate'>
  session: string
  /**
   * The last known seq (0: from the beginning), or 'end': deliver the newest page and continue from
   * there.
   */
  after: number | 'end'
  /** Messages per read, 1 to 500; 100 by default. */
  pageSize?: number | undefined
  /**
   * Ascending seqs, never empty, each message once: a delivered seq is higher than all before it, and
   * nothing below it appears later.
   */
  onMessages(messages: readonly MessageRecord[]): void
  onState?: ((state: FeedState) => void) | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

/**
 * The messages of one session in order, without gaps or repeats, across lost frames, disconnects and
 * restarts [W2 S1 S2 O4].
 */
export function openFeed(options: FeedOptions): Feed {
  return new SessionFeed(options)
}

const aboveEverySeq = 2_147_483_647
const usualPageSize = 100
/** Frames waiting for a read to close the gap before them. What does not fit is read instead. */
const mostEarlyFrames = 1_000

class SessionFeed implements Feed {
  cursor: number | undefined
  state: FeedState

  readonly #options: FeedOptions
  readonly #pageSize: number
  readonly #end = new AbortController()
  readonly #retrier: Retrier
  readonly #earlyBySeq = new Map<number, MessageRecord>()
  readonly #unlisten: (() => void)[]
  #waiting: PromiseWithResolvers<void> | undefined
  #isReading = false
  /** Something may be missing that no frame will bring: read again before reporting live. */
  #mustRead = true

  constructor(options: FeedOptions) {
    const { socket, session, after, pageSize = usualPageSize, clock, random } = options
    this.#options = options
    this.#pageSize = pageSize
    this.#retrier = createRetrier({ signal: this.#end.signal, clock, random })
    this.cursor = after === 'end' ? undefined : after
    this.state = { type: socket.state.type === 'live' ? 'catching-up' : 'away' }
    // Listening comes before reading, so that nothing falls between the two [S2].
    this.#unlisten = [
      socket.onUpdate(({ body }) => {
        if (body.t === 'new-message' && body.sid === session) this.take([body.message])
      }),
      socket.onState(state => {
        if (state.type === 'live') this.#readAgain()
        else this.#settle()
      })
    ]
    this.#readSoon()
  }

  take(messages: readonly MessageRecord[]): void {
    if (!this.#isGoing()) return
    for (const message of messages) this.#keep(message)
    this.#handOverEarly()
    if (this.#earlyBySeq.size > 0 && !this.#isReading) this.#readSoon()
  }

  async readBefore(seq: number, limit: number): Promise<{ messages: MessageRecord[]; hasMore: boolean }> {
    const page = await this.#ask({ before_seq: seq, limit })
    return { messages: page.messages.toReversed(), hasMore: page.hasMore }
  }

  async caughtUp(): Promise<void> {
    if (this.state.type === 'live') return
    if (this.state.type === 'ended') throw this.state.refusal
    this.#end.signal.throwIfAborted()
    this.#waiting ??= Promise.withResolvers()
    return this.#waiting.promise
  }

  close(): void {
    if (this.#isGoing()) this.#finish({ type: 'closed' }, new Error('the feed was closed'))
  }

  #isGoing(): boolean {
    return !this.#end.signal.aborted
  }

  #keep(message: MessageRecord): void {
    if (this.cursor !== undefined && message.seq <= this.cursor) return
    if (this.#earlyBySeq.size < mostEarlyFrames) this.#earlyBySeq.set(message.seq, message)
    else this.#mustRead = true
  }

  /** Delivers the contiguous run after the cursor, and drops what is below it. */
  #handOverEarly(): void {
    if (this.cursor === undefined) return
    const run: MessageRecord[] = []
    for (let next = this.#earlyBySeq.get(this.cursor + 1); next; next = this.#earlyBySeq.get(next.seq + 1)) run.push(next)
    this.#handOver(run)
  }

  #handOver(run: readonly MessageRecord[]): void {
    const last = run.at(-1)
    if (!last) return
    this.cursor = last.seq
    for (const seq of this.#earlyBySeq.keys()) if (seq <= last.seq) this.#earlyBySeq.delete(seq)
    this.#options.onMessages(run)
  }

  /** A new connection: frames were missed, and a current read may hang on the lost one. */
  #readAgain(): void {
    this.#mustRead = true
    this.#retrier.restart()
    if (this.#isReading) this.#settle()
    else this.#readSoon()
  }

  #readSoon(): void {
    this.#isReading = true
    this.#mustRead = true
    this.#settle()
    this.#readAll().then(
      () => {
        this.#isReading = false
        this.#settle()
      },
      error => this.#fail(error)
    )
  }

  /** Until a last page was requested after the last doubt. */
  async #readAll(): Promise<void> {
    let hasMore = true
    while (hasMore || this.#mustRead) hasMore = await this.#retrier.attempt(signal => this.#readPage(signal))
  }

  /** True when more pages follow. */
  async #readPage(signal: AbortSignal): Promise<boolean> {
    this.#mustRead = false
    const announced = [...this.#earlyBySeq.keys()]
    const hasMore = await (this.cursor === undefined ? this.#readNewest(signal) : this.#readAfter(this.cursor, signal))
    this.#handOverEarly()
    if (hasMore) return true
    // What was announced before the last page was requested is in it, or was never stored.
    for (const seq of announced) this.#earlyBySeq.delete(seq)
    if (this.#earlyBySeq.size > 0) this.#mustRead = true
    return false
  }

  async #readNewest(signal: AbortSignal): Promise<boolean> {
    const page = await this.#ask({ before_seq: aboveEverySeq, limit: this.#pageSize }, signal)
    this.cursor = 0
    this.#handOver(page.messages.toReversed())
    return false
  }

  async #readAfter(cursor: number, signal: AbortSignal): Promise<boolean> {
    const page = await this.#ask({ after_seq: cursor, limit: this.#pageSize }, signal)
    // Frames may have advanced the cursor while the page was in flight.
    this.#handOver(page.messages.filter(message => message.seq > (this.cursor ?? 0)))
    // A page without progress would be requested forever.
    return page.hasMore && page.messages.some(message => message.seq > cursor)
  }

  #ask(query: { after_seq: number; limit: number } | { before_seq: number; limit: number }, signal?: AbortSignal) {
    const { rest, session } = this.#options
    return rest.call('readMessages', { params: { id: session }, query }, { signal })
  }

  #settle(): void {
    if (!this.#isGoing()) return
    const isLive = this.#options.socket.state.type === 'live'
    if (!isLive) this.#enter('away')
    else this.#enter(this.#isReading ? 'catching-up' : 'live')
  }

  #enter(type: 'catching-up' | 'live' | 'away'): void {
    if (this.state.type === type) return
    this.state = { type }
    if (type === 'live') {
      this.#waiting?.resolve()
      this.#waiting = undefined
    }
    this.#options.onState?.(this.state)
  }

  #fail(error: unknown): void {
    if (!this.#isGoing()) return
    if (!(error instanceof Refused)) throw error
    this.#finish({ type: 'ended', refusal: error }, error)
  }

  #finish(state: FeedState, reason: Error): void {
    this.#end.abort(reason)
    for (const unlisten of this.#unlisten) unlisten()
    this.#waiting?.promise.catch(() => {})
    this.#waiting?.reject(reason)
    this.state = state
    this.#options.onState?.(state)
  }
}
