import type { AccountId, DeviceId, LocalId, MachineId, SessionId, TokenId } from '../../protocol/wire/ids.ts'
import type { SignedIn } from '../../store/access/sign-in.ts'
import type { CellRef, RemovableRef, TokenKind } from '../../store/rows.ts'

/** Sign-ins, approvals and rejections. Never a token, a key or an address; `at` is in milliseconds since 1970. */
export type AuditEvent = { at: number } & (
  | { type: 'account-created'; account: AccountId }
  | { type: 'account-removed'; account: AccountId }
  | { type: 'signed-in'; account: AccountId; token: TokenId; label: string }
  /** A valid signature that is rejected: its challenge was used before, or the key has no account and gets none. */
  | { type: 'sign-in-refused'; reason: Exclude<SignedIn['result'], 'signed-in'> }
  | { type: 'pairing-approved'; account: AccountId }
  | { type: 'device-paired'; account: AccountId; token: TokenId; kind: TokenKind; label: string }
  | { type: 'device-removed'; account: AccountId; device: DeviceId }
  /** A named token, for the person's own program. */
  | { type: 'token-created'; account: AccountId; token: TokenId; label: string }
  | { type: 'token-revoked'; account: AccountId; token: TokenId }
  /** `route` as in docs/protocol.md, such as `GET /v1/sessions`. */
  | { type: 'request-refused'; route: string; status: 401 | 403 | 429 }
)

/** What was just stored: names and numbers only, never sealed content. `at` is in milliseconds since 1970. */
export type ServerEvent = { at: number; account: AccountId } & (
  | { type: 'session-opened'; session: SessionId }
  | { type: 'machine-opened'; machine: MachineId }
  | { type: 'messages-stored'; session: SessionId; messages: { seq: number; localId: LocalId | null }[] }
  | { type: 'value-written'; value: CellRef; version: number }
  | { type: 'removed'; row: RemovableRef }
)

/** An embedder's listeners. Called in order, after the store has it; their errors go to `onError`. */
export interface Listeners {
  onAudit: (event: AuditEvent) => void
  onEvent: (event: ServerEvent) => void
}
