import type { Clock } from '../async/clock.ts'
import type { MessageReceipt, MessageRecord } from '../protocol/wire/records.ts'
import type { Draft, Journal } from './journal.ts'
import type { Refused, Rest } from './rest.ts'

export type OutboxState =
  | { type: 'idle' }
  | { type: 'sending' }
  /** `nextTryAt` is wall-clock time in milliseconds, for the screen. */
  | { type: 'waiting'; reason: string; nextTryAt: number }
  /** The token is no longer good (401, 403). Everything is kept; `wake` tries again. */
  | { type: 'refused'; refusal: Refused }
  | { type: 'closed' }

/** Sends messages in one request; resolves to what the server stored, repeats included. See `sendOver`. */
export type SendMessages = (
  session: string,
  messages: readonly Pick<Draft, 'localId' | 'content'>[],
  signal: AbortSignal
) => Promise<readonly MessageReceipt[]>

export interface Outbox {
  readonly state: OutboxState
  /** In the order in which they leave, those under way included. */
  readonly pending: readonly Draft[]
  /** Resolves once the draft is in the journal; from then on it reaches the server. Rejects with `OutboxFull` or what the journal says. */
  put(draft: Draft): Promise<void>
  /** Takes a draft back. False when it is on its way or was stored. */
  withdraw(draft: Pick<Draft, 'session' | 'localId'>): Promise<boolean>
  /** Resolves when nothing is pending, at once if so. */
  idle(): Promise<void>
  /** The network is back: tries at once instead of waiting. */
  wake(): void
  /** Stops sending and closes the journal; what is pending stays there. */
  close(): Promise<void>
}

export interface OutboxOptions {
  journal: Journal
  send: SendMessages
  /** What the server has stored, with its seqs: give it to `feed.take`. Called in the order of storing. */
  onStored?: ((messages: readonly MessageRecord[], session: string) => void) | undefined
  /**
   * The server will never take this draft (too large, session deleted). It leaves the journal when this has resolved, so whoever wants
   * to offer "Try again" has to keep it first. The drafts behind it go on.
   */
  onSetAside(draft: Draft, refusal: Refused): void | Promise<void>
  onState?: ((state: OutboxState) => void) | undefined
  /** Bytes of content that may wait; 256 MiB unless told. */
  limitBytes?: number | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

export declare class OutboxFull extends Error {}

/**
 * Messages that reach the server whatever happens to network, server or this process: journaled first, then sent in order, one request
 * at a time, until the server has them [W1 W5]. Each session's messages keep the order in which they were put.
 */
export declare function openOutbox(options: OutboxOptions): Promise<Outbox>

/** Over HTTP, with time enough for a slow phone. */
export declare function sendOver(rest: Pick<Rest, 'call'>): SendMessages
