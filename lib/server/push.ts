import type { SessionId } from '../protocol/wire/ids.ts'
import type { ChannelKind, NotificationSettings, RingKind } from '../protocol/wire/notifications.ts'

/** What a notification tells. Titles and texts are there only when the operator allows them to leave the server. */
export interface PushNotice {
  /** `machine`, `device`, `test` and `digest` come from the server itself. */
  kind: RingKind
  /** The session it is about, if any. */
  session: SessionId | undefined
  title: string
  body: string
}

/**
 * What came of one token: `delivered` to the provider, `gone` when the provider knows it no more, `unknown` when it is of
 * no provider, `refused` by the provider for good; `unreachable` when there was no answer and `late` when time was up, which are tried again.
 */
export type PushReceipt = { token: string; outcome: 'delivered' | 'gone' | 'unknown' | 'refused' | 'unreachable' | 'late' }

/** Hands a notice to each token and says what came of it; resolves soon after the signal aborts. Embedders may bring their own. */
export type Push = (notice: PushNotice, tokens: readonly string[], signal: AbortSignal) => Promise<PushReceipt[]>

export type PushResult =
  | { result: 'sent'; tokens: number; delivered: number }
  | { result: 'partial' | 'failed'; tokens: number; delivered: number; reason: Exclude<PushReceipt['outcome'], 'delivered'> }
  | { result: 'suppressed'; reason?: 'active-ui-client' | 'short-turn' }
  | { result: 'no_tokens' }

/** One notice on its way to one channel. */
export interface Outgoing {
  token: string
  /** The same for every repeat, so that a repeat replaces what it repeats. */
  notice: string
  kind: RingKind
  /** The session it is about, if any; of one session at most one notice is visible. */
  session: SessionId | undefined
  /** Fixed words, unless the operator lets titles leave the server. */
  title: string
  body: string
  /** Sealed for the devices of the account; only for providers whose receiver can open it. */
  preview: string | undefined
  /** What the receiver acknowledges the arrival with. */
  receipt: string
  isSilent: boolean
  /** `clear` closes what a `show` of the same notice opened. */
  what: 'show' | 'clear'
  /** For so long it is worth being delivered. */
  lastsMs: number
  createdAt: number
  language: NotificationSettings['language']
}

/** What came of it. `busy` and `unreachable` are tried again; everything else is the last word. */
export type SendOutcome =
  /** With a ticket the provider tells later what became of it. */
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
  /** In words, why a token of its prefix can lead nowhere; undefined when it may. */
  flawOf(token: string): string | undefined
  /** How many one request takes. */
  readonly mostAtOnce: number
  /** Whether receivers acknowledge arrivals. */
  readonly acknowledges: boolean
  /** Whether it can close a notification without showing another. */
  readonly clears: boolean
  /** Resolves to what came of each, in their order; at most `mostAtOnce` at a time, soon after the signal aborts. Never rejects. */
  send(outgoing: readonly Outgoing[], signal: AbortSignal): Promise<SendOutcome[]>
  /** What became of accepted ones, for providers that give tickets; `accepted` when nothing is known yet or all is well. */
  look?(tickets: readonly string[], signal: AbortSignal): Promise<SendOutcome[]>
}
