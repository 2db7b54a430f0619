import type { AccountId, ArtifactId, DeviceId, LocalId, MachineId, Sealed, SessionId, TokenId } from '../protocol/wire/ids.ts'
import type { Scope } from '../protocol/wire/scopes.ts'

/** A sealed value with the version that a write over it must name. */
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
  /** How far its messages came: to the machine, and to the agent. */
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
  /** Null only for senders that give no name; such a message is never recognised as a repeat. */
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

/** `clock` is the account's update seq after the change; a change that makes several updates ends with the last one. */
export interface Written {
  written: true
  version: number
  clock: number
}
export interface Conflict {
  written: false
  current: Cell
}
/** `messages` answers the drafts in ascending seq; `added` are those stored by this call, their clocks ending with `clock`. */
export interface Appended {
  messages: Message[]
  added: Message[]
  clock: number
}
export interface Page {
  messages: Message[]
  more: boolean
}

/** Who signs in with it: an app, a terminal or a device that was paired; or a program that was given it under a name. */
export type TokenKind = 'account' | 'terminal' | 'device' | 'named'
/** What signs in: a browser, an app, the wrapper on a computer. Its name and kind are those of its first token. */
export interface DeviceDraft {
  id: DeviceId
  /** base64 of the Ed25519 key that renews its tokens; null for those that sign in in the way of existing clients. */
  publicKey: string | null
  /** How many the account may have: when this is one too many, the one that was not used for longest goes, as `removeDevice` does it. */
  most?: number | undefined
}

export interface TokenDraft {
  id: TokenId
  /** SHA-256 of the token, base64url; the token itself is never stored. */
  hash: string
  kind: TokenKind
  label: string
  scopes: readonly Scope[]
  /** Made with the token unless there is one with its public key; null for a named token. */
  device: DeviceDraft | null
  /** The network it was asked for from. */
  from: string
  createdAt: number
  /** Null: never. */
  expiresAt: number | null
  /** Each use moves the end to this long after it; null for an end that stays. */
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
