import type { AccountId, DeviceId, PairingId } from '../protocol/wire/ids.ts'
import type { PairingKind, TokenDraft } from './store.ts'

/** A request of the second kind. Keys are base64. */
export interface PairingRequestDraft {
  id: PairingId
  kind: PairingKind
  name: string
  /** X25519: what the answer and the token are sealed for. */
  publicKey: string
  /** Ed25519: what the device will renew its token with. */
  deviceKey: string
  /** What the asker says of itself, sealed for whoever has its link. */
  about?: string | undefined
  /** SHA-256 of the secret that polls show, base64url. */
  pollHash: string
  /** The network it was asked for from. */
  from: string
  /** It is not made when so many wait already, from this network or in all. */
  most?: { here: number; inAll: number } | undefined
  endsAt: number
  now: number
}

export interface PairingRequestRow {
  kind: PairingKind
  name: string
  publicKey: string
  deviceKey: string
  from: string
  about: string | null
  /** `over` when it was refused or its time was up. */
  state: 'waiting' | 'approved' | 'delivered' | 'over'
  /** Who let it in. */
  account: AccountId | null
  endsAt: number
}

export type RequestPolled =
  | { state: 'waiting' }
  | { state: 'delivered'; account: AccountId; response: string; device: DeviceId | undefined }
  /** `again`, once: who had approved it, when it was delivered before. */
  | { state: 'over'; again: AccountId | undefined }

export interface PairingRequestStore {
  addPairingRequest(draft: PairingRequestDraft): Promise<'added' | 'too-many'>
  readPairingRequest(id: PairingId, now: number): Promise<PairingRequestRow | 'unknown'>
  /** Delivers an approval once, storing its token in the same transaction. `unknown` also for another poll secret. */
  pollPairingRequest(ask: {
    id: PairingId
    pollHash: string
    now: number
    token: (account: AccountId, request: PairingRequestRow) => TokenDraft
  }): Promise<RequestPolled | 'unknown'>
  /** The same account may repeat the same bytes; anything else finds the request answered. */
  approvePairingRequest(ask: {
    id: PairingId
    account: AccountId
    device: DeviceId | null
    response: string
    now: number
  }): Promise<'approved' | 'answered-before' | 'unknown'>
  /** Ends a request that waits. */
  rejectPairingRequest(id: PairingId, now: number): Promise<'rejected' | 'answered-before' | 'unknown'>
  /** Upper-case hex of the Ed25519 key the account signs in with. */
  readAccountKey(account: AccountId): Promise<string | 'missing'>
}
