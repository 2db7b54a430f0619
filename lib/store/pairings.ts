import type { AccountId, DeviceId, PairingId } from '../protocol/wire/ids.ts'
import type { TokenDraft } from './rows.ts'

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

/** Requests of existing clients to be let into an account. */
export interface PairingStore {
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
}

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
}
