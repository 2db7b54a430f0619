import type { AccountId, ConnectionId, TokenId } from '../../protocol/wire/ids.ts'
import type { RowRef } from '../../store/rows.ts'
import type { Frame } from './frames.ts'

/** Why the server ends a connection; the code and text are sent in the close frame. */
export const closeCodes = {
  'client-left': 1000,
  'bad-packet': 4400,
  'auth-revoked': 4401,
  'slow-consumer': 4008,
  'too-fast': 4029,
  'ping-timeout': 4002,
  'connect-timeout': 4003,
  'server-shutdown': 1012,
  'try-again': 1013,
  /** Others need the place of an unauthenticated one. */
  crowded: 1013
} as const

export type CloseReason = keyof typeof closeCodes

/** One live connection as the hub sees it. */
export interface Connection {
  readonly id: ConnectionId
  readonly account: AccountId
  readonly token: TokenId
  /** An app sees the whole account; a row's own process sees that row. */
  readonly scope: 'app' | RowRef
  /** Whether it counts as the process of its row, or as an app in use; a read-only one makes nobody look active. */
  readonly isPresent: boolean
  /** Whether it asked for Afield's own updates and signals, which existing clients do not know. */
  readonly readsAfieldEvents: boolean
  /**
   * Until when its app counts as in use, by the monotonic clock; existing apps report start and end, and
   * ours how long a touch counts.
   */
  watchedUntil: number
  /** Whether it is sent growing text. */
  takesPartials: boolean
  /** Sends a frame encoded once for all receivers. A connection that cannot accept it is closed, never skipped. */
  send(frame: Frame): void
  /**
   * Sends an event; its acknowledgement is reported at most once, and never after it was cancelled with the
   * returned function, or the connection ended.
   */
  ask(event: string, body: unknown, onReply: (reply: unknown) => void): () => void
  close(reason: CloseReason): void
}
