import type { AccountId, DeviceId, TokenId } from '../protocol/wire/ids.ts'
import type { TokenDraft, TokenKind } from './store.ts'

/** What signs in: a browser, an app, the wrapper on a computer. Its name and kind are those of its first token. */
export interface DeviceDraft {
  id: DeviceId
  /** base64 of the Ed25519 key that renews its tokens; null for those that sign in in the way of existing clients. */
  publicKey: string | null
}

export interface DeviceRow {
  id: DeviceId
  kind: Exclude<TokenKind, 'named'>
  name: string
  /** Whether its tokens live a day and it renews them with a key of its own. */
  renews: boolean
  createdAt: number
  lastUsedAt: number
  /** The network it was last seen in; coarse like the time. */
  lastUsedFrom: string
}

export interface DeviceStore {
  /** The one used last comes first. */
  listDevices(account: AccountId): Promise<DeviceRow[]>
  renameDevice(account: AccountId, device: DeviceId, name: string): Promise<'renamed' | 'missing'>
  /** From the moment this resolves its tokens are unknown; its push tokens and the answers it gave that nobody fetched yet are gone too. */
  removeDevice(account: AccountId, device: DeviceId): Promise<{ tokens: TokenId[] } | 'missing'>
  /** The device that a token belongs to. */
  findDeviceOf(account: AccountId, token: TokenId): Promise<DeviceId | 'none' | 'missing'>

  /** A named token, for a program of the person's own. */
  addToken(account: AccountId, draft: TokenDraft): Promise<void>

  /** The tokens that ended during the last ten minutes, by the store's own clock. */
  recentRevocations(): Promise<TokenId[]>
  /** Forgets the tokens that have expired and returns them. */
  endExpiredTokens(now: number): Promise<TokenId[]>
}
