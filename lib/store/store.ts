import type { AccountId, ArtifactId, DeviceId, LocalId, MachineId, Sealed, SessionId, TokenId } from '../protocol/wire/ids.ts'
import type { Scope } from '../protocol/wire/scopes.ts'
import type { AccessKeyStore } from './access-keys.ts'
import type { ArtifactStore } from './artifacts.ts'
import type { AttachmentStore } from './attachments.ts'
import type { ChangeStore } from './changes.ts'
import type { DeviceDraft, DeviceStore } from './devices.ts'
import type { KvStore } from './kv.ts'
import type { NoticeStore } from './notices.ts'
import type { PairingRequestStore } from './pairing-requests.ts'
import type { Quotas } from './quotas.ts'
import type { SafekeepingStore } from './safekeeping.ts'
import type { Door, SignupStore } from './signup.ts'
import type { StorageStore } from './storage.ts'
import type { UsageStore } from './usage.ts'

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

export interface SignIn {
  /** Upper-case hex of the Ed25519 public key. */
  publicKey: string
  /** SHA-256 over key and challenge bytes, base64url; a second use is refused for ever. */
  challengeHash: string
  /** The challenge is a nonce of this server, a moment old: what holds for those that clients choose does not, and it is forgotten after a day. */
  fresh?: boolean
  /** How a key that nobody has signed in with before becomes an account. */
  create: Door
  /** Becomes the account's id if it is created. */
  newAccount: AccountId
  /** A function because the token names its account. */
  token: (account: AccountId) => TokenDraft
  now: number
}
export type SignedIn =
  /** `device` is the one that was made or found for the token. */
  | { result: 'signed-in'; account: AccountId; created: boolean; device: { id: DeviceId; isNew: boolean } | undefined }
  | { result: 'challenge-used' }
  | { result: 'unknown-key' }
  /** The account lets nobody in over challenges that clients choose, or not any more. */
  | { result: 'legacy-off' }
  /** A backup was restored lately. */
  | { result: 'held' }

/** Whether an account takes sign-ins over challenges that clients choose; `once` becomes `off` with the next one. */
export type LegacyLogin = 'on' | 'once' | 'off'

export type PairingKind = 'terminal' | 'device'
export interface PairingPoll {
  kind: PairingKind
  /** base64 of the asker's X25519 public key. */
  publicKey: string
  supportsV2: boolean
  /** Network prefix of the asker; only the creator's prefix is handed the answer. */
  from: string
  expiresAt: number
  /** A request is not made when so many wait already from this network; when there are so many in all, the oldest of the network with the most goes. */
  most?: { here: number; inAll: number } | undefined
  now: number
  token: (account: AccountId) => TokenDraft
}
export type PairingPolled =
  | { state: 'waiting' }
  /** Too many wait already. */
  | { state: 'full' }
  | { state: 'delivered'; account: AccountId; response: string; device: DeviceId | undefined }
  /** `again`, once: who had answered it, when it was delivered before and somebody asks once more. */
  | { state: 'over'; again: AccountId | undefined }
export interface PairingAnswer {
  kind: PairingKind
  publicKey: string
  response: string
  account: AccountId
  /** The device that answers; its answers that nobody fetched go with it. */
  device?: DeviceId | null
  now: number
}
export interface PairingStatus {
  /** `answered` also once delivered; `over` when it ended without that. */
  status: 'unknown' | 'waiting' | 'answered' | 'over'
  /** As asked for, while waiting; false otherwise. */
  supportsV2: boolean
}

export interface PushTokenRow {
  id: string
  token: string
  createdAt: number
  updatedAt: number
}

/** A write the store refused because the disk has no room; nothing of it was kept and the store goes on. */
export class StoreFull extends Error {
  override readonly name = 'StoreFull'
}
/** Another program holds the database for longer than a caller can wait; nothing was kept, and the store goes on. */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy'
}
/** A stored row is not what was written, because the disk or the memory failed. Only this row is refused. */
export class RowDamaged extends Error {
  override readonly name = 'RowDamaged'
}
/** The store can no longer promise anything; the process must end and recover at its next start. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken'
}

/**
 * Each method is one transaction. A write resolves only when its effect would survive power loss, and nothing of it is
 * readable before. With `quotas` a write that would exceed one throws `OverQuota`. Rows of another account are never read or changed: to a caller they are missing.
 */
export interface Store
  extends ChangeStore,
    KvStore,
    ArtifactStore,
    AttachmentStore,
    AccessKeyStore,
    UsageStore,
    StorageStore,
    SignupStore,
    DeviceStore,
    PairingRequestStore,
    NoticeStore,
    SafekeepingStore {
  /** One transaction: the challenge is spent, the account found or made, the token stored. A refusal too spends the challenge. */
  signIn(ask: SignIn): Promise<SignedIn>
  hasAccounts(): Promise<boolean>
  accountCreatedAt(account: AccountId): Promise<number | 'missing'>
  readLegacyLogin(account: AccountId): Promise<LegacyLogin | 'missing'>
  setLegacyLogin(account: AccountId, may: LegacyLogin): Promise<'set' | 'missing'>
  /** For whoever restores a backup, which knows nothing of the challenges used since: until then no known account signs in with one. */
  holdLegacyLogins(until: number): Promise<void>

  /** Also one whose end has come: that is for the caller to see. */
  findBearer(tokenHash: string): Promise<Bearer | 'missing'>
  /** The named ones, the newest first. */
  listTokens(account: AccountId): Promise<TokenRow[]>
  /** From the moment this resolves the token's hash is unknown. */
  revokeToken(account: AccountId, token: TokenId): Promise<'revoked' | 'missing'>
  /** Last-used times, coarse and best effort. */
  markTokensUsed(marks: readonly { token: TokenId; at: number; from: string }[]): Promise<void>

  /** Creates the request when the key is new. Delivers the answer once, storing its token in the same transaction, then keeps only that it is over. */
  pollPairing(ask: PairingPoll): Promise<PairingPolled>
  readPairing(kind: PairingKind, publicKey: string, now: number): Promise<PairingStatus>
  /** The same account may repeat the same bytes; anything else finds the request answered. */
  answerPairing(answer: PairingAnswer): Promise<'answered' | 'answered-before' | 'unknown'>
  /**
   * Moves the ends of pairing requests of both kinds that wait, when the time they are judged by is moved from `from`. None
   * waits longer than `mostMs`; of a step larger than that, telling twice moves nothing more.
   */
  movePairings(step: { from: number; byMs: number; mostMs: number }): Promise<void>
  /** Forgets requests that ended more than a day ago. */
  sweepPairings(now: number): Promise<void>

  /** The same tag on the same account always names the same session, which a repeat returns unchanged. */
  openSession(
    account: AccountId,
    draft: { id: SessionId; tag: string; metadata: Sealed; agentState: Sealed | null; dataKey: Sealed | null; now: number },
    quotas?: Quotas
  ): Promise<{ session: SessionRow; created: boolean; clock: number }>
  listSessions(account: AccountId, limit: number): Promise<SessionRow[]>
  /** Those marked as active that showed a sign of life after `since`, the latest first. */
  listActiveSessions(account: AccountId, ask: { since: number; limit: number }): Promise<SessionRow[]>
  /** By id, descending: those below `before` that changed after `changedSince`. */
  pageSessions(
    account: AccountId,
    page: { before: string | undefined; changedSince: number; limit: number }
  ): Promise<{ sessions: SessionRow[]; more: boolean }>
  findSession(account: AccountId, session: SessionId): Promise<SessionRow | 'missing'>

  /** Metadata starts at version 1, the daemon state at 1 when given, else 0. A creation moves the clock by two. */
  openMachine(
    account: AccountId,
    draft: { id: MachineId; metadata: Sealed; daemonState: Sealed | null; dataKey: Sealed | null; now: number },
    quotas?: Quotas
  ): Promise<{ machine: MachineRow; created: boolean; clock: number }>
  listMachines(account: AccountId): Promise<MachineRow[]>
  findMachine(account: AccountId, machine: MachineId): Promise<MachineRow | 'missing'>
  /**
   * A session goes with its messages and usage, a machine leaves its sessions; access keys go with either. The attachments of a
   * removed session are missing at once; their bytes go with `sweepAttachments`.
   */
  remove(account: AccountId, row: RemovableRef): Promise<{ clock: number } | 'missing'>

  readSettings(account: AccountId): Promise<Cell>
  /** Writes only over the expected version and adds one to it; otherwise returns what is there. */
  writeCell(account: AccountId, cell: CellRef, expected: number, value: Sealed | null, now: number): Promise<Written | Conflict | 'missing'>

  /** Stores each draft at most once per localId and numbers the new ones without gaps, in the order given. `full`: no seq below 2^31 - 1 is left. */
  appendMessages(
    account: AccountId,
    session: SessionId,
    drafts: readonly MessageDraft[],
    now: number,
    quotas?: Quotas
  ): Promise<Appended | 'missing' | 'full'>
  /** `after`: ascending; `before`: descending. Exactly one of them. */
  readMessages(
    account: AccountId,
    session: SessionId,
    page: { after: number; limit: number } | { before: number; limit: number }
  ): Promise<Page | 'missing'>

  /** Presence; best effort, does not move the clock. A row of another account, or none, is passed over. */
  markActive(marks: readonly { account: AccountId; row: RowRef; active: boolean; at: number }[]): Promise<void>
  /** Marks rows without a sign of life since `before` as inactive and returns them. */
  sweepActive(before: number): Promise<{ account: AccountId; row: RowRef; activeAt: number }[]>

  addPushToken(
    account: AccountId,
    push: { id: string; token: string; device?: DeviceId | null; now: number },
    quotas?: Quotas
  ): Promise<void>
  listPushTokens(account: AccountId): Promise<PushTokenRow[]>
  removePushToken(account: AccountId, token: string): Promise<void>

  close(): Promise<void>
}
