import type { AccountId, DeviceId, PairingId } from '../protocol/wire/ids.ts'
import type { PairingKind } from './pairings.ts'
import type { TokenDraft } from './rows.ts'

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
  /** It is not made when so many wait already from this network; when there are so many in all, the oldest of the network with the most goes. */
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
  | ({ state: 'delivered' } & Delivery)
  | { state: 'over' }
  /** Another secret than the asker's. `alarm`, once: who had approved the request that somebody else knows of. */
  | { state: 'strange'; alarm: AccountId | undefined }

/** What the asker is given: the answer and the token are sealed for it. */
export interface Delivery {
  account: AccountId
  response: string
  sealedToken: string
  tokenEndsAt: number
  device: DeviceId
}

export interface PairingRequestStore {
  addPairingRequest(draft: PairingRequestDraft): Promise<'added' | 'too-many'>
  readPairingRequest(id: PairingId, now: number): Promise<PairingRequestRow | 'unknown'>
  /**
   * Delivers an approval, storing its token in the same transaction, and the same again until the request ends: a reply may
   * be lost. `token` is asked once; it has an end and a device.
   */
  pollPairingRequest(ask: {
    id: PairingId
    pollHash: string
    now: number
    token: (account: AccountId, request: PairingRequestRow) => { draft: TokenDraft; sealed: string }
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
