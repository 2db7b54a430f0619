import type { Clock } from '../async/clock.ts'
import type { MessageRecord } from '../protocol/wire/records.ts'
import type { Refused, Rest } from './rest.ts'
import type { LiveSocket } from './socket.ts'

export type FeedState =
  /** Reading what was missed; nothing new is lost meanwhile. */
  | { type: 'catching-up' }
  /** Everything the server has was handed over, and what comes next arrives by itself. */
  | { type: 'live' }
  /** No link. What was handed over is how things stood. */
  | { type: 'away' }
  /** Final: the session is gone (404) or the token is no longer good (401). */
  | { type: 'ended'; refusal: Refused }

export interface Feed {
  /** The seq up to which everything was handed over; undefined before the first page of `after: 'end'`. */
  readonly cursor: number | undefined
  readonly state: FeedState
  /**
   * What the outbox had stored, as its `onStored` tells it: the server does not send it back to the connection that posted it. Handed
   * to `onMessages` like everything else, in order and once.
   */
  take(messages: readonly MessageRecord[]): void
  /** Older messages for scrolling back, ascending; does not move the cursor. Rejects like `rest.call`. */
  readBefore(seq: number, limit: number): Promise<{ messages: MessageRecord[]; hasMore: boolean }>
  /** Resolves the next time the feed is live, at once if it is; rejects with the refusal when it has ended. */
  caughtUp(): Promise<void>
  close(): void
}

export interface FeedOptions {
  rest: Pick<Rest, 'call'>
  socket: Pick<LiveSocket, 'state' | 'onState' | 'onUpdate'>
  session: string
  /** The last seq already known (0: from the beginning), or 'end': hand over the newest page and go on from there. */
  after: number | 'end'
  /** Messages per read, 1 to 500; 100 unless told. */
  pageSize?: number | undefined
  /** Ascending seqs, never empty, each message once: a seq handed over is above all before it, and nothing below it appears later. */
  onMessages(messages: readonly MessageRecord[]): void
  onState?: ((state: FeedState) => void) | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

/** The messages of one session in order, without gap and without repeat, over lost frames, cuts and restarts [W2 S1 S2 O4]. */
export declare function openFeed(options: FeedOptions): Feed
