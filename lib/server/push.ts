import type { SessionId } from '../protocol/wire/ids.ts'
import type { ChannelKind, NotificationSettings, RingKind } from '../protocol/wire/notifications.ts'

/** The content of a notification. Titles and texts are set only if the operator allows them to leave the server. */
export interface PushNotice {
  /** `machine`, `device`, `test` and `digest` come from the server itself. */
  kind: RingKind
  /** The session it is about, if any. */
  session: SessionId | undefined
  title: string
  body: string
}

/**
 * The result for one token: `delivered` to the provider, `gone` if the provider no longer knows it,
 * `unknown` if it belongs to no provider, `refused` by the provider permanently; `unreachable` without an
 * answer and `late` after the timeout, which are retried.
 */
export type PushReceipt = { token: string; outcome: 'delivered' | 'gone' | 'unknown' | 'refused' | 'unreachable' | 'late' }

/**
 * Delivers a notice to each token and returns the results; resolves soon after the signal aborts. Embedders
 * may supply their own.
 */
export type Push = (notice: PushNotice, tokens: readonly string[], signal: AbortSignal) => Promise<PushReceipt[]>

export type PushResult =
  | { result: 'sent'; tokens: number; delivered: number }
  | { result: 'partial' | 'failed'; tokens: number; delivered: number; reason: Exclude<PushReceipt['outcome'], 'delivered'> }
  | { result: 'suppressed'; reason?: 'active-ui-client' | 'short-turn' }
  | { result: 'no_tokens' }

/** One notice for one channel. */
export interface Outgoing {
  token: string
  /** The same for every retry, so that a retry replaces the earlier one. */
  notice: string
  kind: RingKind
  /** The session it is about, if any; of one session at most one notice is visible. */
  session: SessionId | undefined
  /** Fixed text, unless the operator lets titles leave the server. */
  title: string
  body: string
  /** Sealed for the devices of the account; only for providers whose receiver can open it. */
  preview: string | undefined
  /** With which the receiver acknowledges the arrival. */
  receipt: string
  isSilent: boolean
  /** `clear` closes what a `show` of the same notice opened. */
  what: 'show' | 'clear'
  /** How long it is worth delivering. */
  lastsMs: number
  createdAt: number
  language: NotificationSettings['language']
}

/** The result. `busy` and `unreachable` are retried; everything else is final. */
export type SendOutcome =
  /** With a ticket the provider reports the result later. */
  | { outcome: 'accepted'; ticket?: string }
  | { outcome: 'gone' | 'refused' | 'unknown'; reason?: string }
  | { outcome: 'busy' | 'unreachable'; reason?: string; retryAfterMs?: number | undefined }

/** Reasons for `unreachable`. */
export const noAnswer = 'no answer'
export const noAnswerInTime = 'no answer in time'

/** One service that delivers notices. */
export interface PushProvider {
  readonly kind: ChannelKind
  /** Whether the prefix is its own. */
  knows(token: string): boolean
  /** Why a token of its prefix cannot work, in words; undefined if it may. */
  flawOf(token: string): string | undefined
  /** How many one request can have. */
  readonly mostAtOnce: number
  /** Whether receivers acknowledge arrivals. */
  readonly acknowledges: boolean
  /** Whether it can close a notification without showing another. */
  readonly clears: boolean
  /**
   * Resolves to the results, in order; at most `mostAtOnce` at a time, soon after the signal aborts. Never
   * rejects.
   */
  send(outgoing: readonly Outgoing[], signal: AbortSignal): Promise<SendOutcome[]>
  /**
   * The results of accepted ones, for providers that give tickets; `accepted` if nothing is known yet or
   * all is well.
   */
  look?(tickets: readonly string[], signal: AbortSignal): Promise<SendOutcome[]>
}
