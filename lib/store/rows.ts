import type { AccountId, ArtifactId, DeviceId, LocalId, MachineId, Sealed, SessionId, TokenId } from '../protocol/wire/ids.ts'
import type { Scope } from '../protocol/wire/scopes.ts'

/** A sealed value with the version that its next write must name. */
export interface Cell {
  version: number
  value: Sealed | null
}

export interface SessionRow {
  id: SessionId
  metadata: Cell
  agentState: Cell
  dataKey: Sealed | null
  lastSeq: number
  /** How far its messages got: to the machine, and to the agent. */
  deliveredSeq: number
  readSeq: number
  active: boolean
  /** Milliseconds since 1970, like every time here. */
  activeAt: number
  createdAt: number
  updatedAt: number
}

export interface MachineRow {
  id: MachineId
  metadata: Cell
  daemonState: Cell
  dataKey: Sealed | null
  active: boolean
  activeAt: number
  createdAt: number
  updatedAt: number
}

export interface MessageDraft {
  /** Null only for senders that give none; such a message is never recognized as a repeat. */
  localId: LocalId | null
  sealed: Sealed
}

export interface Message extends MessageDraft {
  seq: number
  createdAt: number
}

export type RowRef = { of: 'session'; id: SessionId } | { of: 'machine'; id: MachineId }
export type RemovableRef = RowRef | { of: 'artifact'; id: ArtifactId }
export type CellRef =
  | { of: 'session'; id: SessionId; name: 'metadata' | 'agentState' }
  | { of: 'machine'; id: MachineId; name: 'metadata' | 'daemonState' }
  | { of: 'account'; name: 'settings' }

/**
 * `clock` is the account's update seq after the change; a change with several updates ends with the
 * last one.
 */
export interface Written {
  written: true
  version: number
  clock: number
}
export interface Conflict {
  written: false
  current: Cell
}
/**
 * `messages` has the drafts in ascending seq; `added` are those stored by this call, their clocks
 * ending with `clock`.
 */
export interface Appended {
  messages: Message[]
  added: Message[]
  clock: number
}
export interface Page {
  messages: Message[]
  more: boolean
}

/** Its holder: an app, a paired terminal or device; or a program that got it under a name. */
export type TokenKind = 'account' | 'terminal' | 'device' | 'named'
/**
 * A signed-in client: a browser, an app, the wrapper on a computer. Its name and kind are those of its
 * first token.
 */
export interface DeviceDraft {
  id: DeviceId
  /** base64 of the Ed25519 key that renews its tokens; null for those with a legacy sign-in. */
  publicKey: string | null
  /**
   * How many the account may have: if this is one too many, the least recently used one is removed, as
   * `removeDevice` does.
   */
  most?: number | undefined
}

export interface TokenDraft {
  id: TokenId
  /** SHA-256 of the token, base64url; the token itself is never stored. */
  hash: string
  kind: TokenKind
  label: string
  scopes: readonly Scope[]
  /** Created with the token unless its public key is already known; null for a named token. */
  device: DeviceDraft | null
  /** The network it was requested from. */
  from: string
  createdAt: number
  /** Null: never. */
  expiresAt: number | null
  /** Each use moves the expiry to this long after it; null for a fixed expiry. */
  idleMs: number | null
}
/** A named token, as lists show it. */
export interface TokenRow {
  id: TokenId
  label: string
  scopes: Scope[]
  createdAt: number
  lastUsedAt: number
  lastUsedFrom: string
  expiresAt: number | null
}
export interface Bearer {
  account: AccountId
  token: TokenId
  kind: TokenKind
  scopes: readonly Scope[]
  device: DeviceId | null
  expiresAt: number | null
  idleMs: number | null
}
