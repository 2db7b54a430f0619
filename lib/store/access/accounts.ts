import type { AccountId, TokenId } from '../../protocol/wire/ids.ts'

/**
 * Whether an account accepts sign-ins with challenges chosen by clients; `once` becomes `off` with the
 * next one.
 */
export type LegacyLogin = 'on' | 'once' | 'off'

export type Role = 'owner' | 'member'
export interface UserRow {
  id: AccountId
  /** Upper-case hex of the Ed25519 public key. */
  publicKey: string
  role: Role
  createdAt: number
  /** Null for one without a token. */
  lastUsedAt: number | null
  messages: number
  bytes: number
}

/** The accounts of the server; the first one owns it. */
export interface AccountStore {
  hasAccounts(): Promise<boolean>
  accountCreatedAt(account: AccountId): Promise<number | 'missing'>
  /** Upper-case hex of the Ed25519 key the account signs in with. */
  readAccountKey(account: AccountId): Promise<string | 'missing'>
  readRole(account: AccountId): Promise<Role | 'missing'>
  /** In creation order, at most 10,000. */
  listAccounts(): Promise<UserRow[]>
  /**
   * Nothing of the account is left, and its tokens are unknown from then on. The owner stays while
   * there are others.
   */
  removeAccount(account: AccountId): Promise<{ tokens: TokenId[] } | 'missing' | 'owner'>
  readLegacyLogin(account: AccountId): Promise<LegacyLogin | 'missing'>
  setLegacyLogin(account: AccountId, may: LegacyLogin): Promise<'set' | 'missing'>
  /**
   * For restoring a backup, which does not have the challenges used since: until then no known account
   * can sign in with one.
   */
  holdLegacyLogins(until: number): Promise<void>
}
