import type { AccountId, DeviceId, PairingId } from '../../protocol/wire/ids.ts'
import type { TokenDraft } from '../rows.ts'

/** A request is remembered for this long after it ended: a poll is told that it is over, and not that it is new. */
export const pairingKeptMs = 24 * 60 * 60 * 1000

export type PairingKind = 'terminal' | 'device'
export interface PairingPoll {
  kind: PairingKind
  /** base64 of the asker's X25519 public key. */
  publicKey: string
  supportsV2: boolean
  /** Network prefix of the asker; only that prefix gets the answer. */
  from: string
  expiresAt: number
  /**
   * A request is rejected when this many already wait from this network; when this many wait in all,
   * the oldest of the network with the most is dropped.
   */
  most?: { here: number; inAll: number } | undefined
  now: number
  token: (account: AccountId) => TokenDraft
}
export type PairingPolled =
  | { state: 'waiting' }
  /** Too many wait already. */
  | { state: 'full' }
  | { state: 'delivered'; account: AccountId; response: string; device: DeviceId | undefined }
  /** `again`, once: who had answered it, when it was delivered before and is requested again. */
  | { state: 'over'; again: AccountId | undefined }
export interface PairingAnswer {
  kind: PairingKind
  publicKey: string
  response: string
  account: AccountId
  /** The device that answers; its unfetched answers are removed with it. */
  device?: DeviceId | null
  now: number
}
export interface PairingStatus {
  /** `answered` also once delivered; `over` if it ended without that. */
  status: 'unknown' | 'waiting' | 'answered' | 'over'
  /** As requested, while waiting; false otherwise. */
  supportsV2: boolean
}

/** Pairing requests of existing clients. */
export interface PairingStore {
  /**
   * Creates the request if the key is new. Delivers the answer once, storing its token in the same
   * transaction, then only records that it is over.
   */
  pollPairing(ask: PairingPoll): Promise<PairingPolled>
  readPairing(kind: PairingKind, publicKey: string, now: number): Promise<PairingStatus>
  /** The same account may repeat the same bytes; any other answer is rejected as already answered. */
  answerPairing(answer: PairingAnswer): Promise<'answered' | 'answered-before' | 'unknown'>
  /**
   * Moves the expiry of waiting pairing requests of both kinds, when the clock they are judged by is
   * moved from `from`. None waits longer than `mostMs`; for a step larger than that, a second call
   * moves nothing more.
   */
  movePairings(step: { from: number; byMs: number; mostMs: number }): Promise<void>
  /** Removes requests that ended more than a day ago. */
  sweepPairings(now: number): Promise<void>
}

/** A pairing request with a check code. Keys are base64. */
export interface PairingRequestDraft {
  id: PairingId
  kind: PairingKind
  name: string
  /** X25519: the answer and the token are sealed for it. */
  publicKey: string
  /** Ed25519: the device will renew its token with it. */
  deviceKey: string
  /** The asker's description, sealed for the holder of its link. */
  about?: string | undefined
  /** SHA-256 of the secret that polls present, base64url. */
  pollHash: string
  /** The network it was made from. */
  from: string
  /**
   * It is rejected when this many already wait from this network; when this many wait in all, the
   * oldest of the network with the most is dropped.
   */
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
  /** `over` if it was refused or has expired. */
  state: 'waiting' | 'approved' | 'delivered' | 'over'
  /** Who approved it. */
  account: AccountId | null
  endsAt: number
}

export type RequestPolled =
  | { state: 'waiting' }
  | ({ state: 'delivered' } & Delivery)
  | { state: 'over' }
  /**
   * Another secret than the asker's. `alarm`, once: who had approved the request that someone else
   * knows of.
   */
  | { state: 'strange'; alarm: AccountId | undefined }

/** What the asker gets: the answer and the token, sealed for it. */
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
   * Delivers an approval, storing its token in the same transaction, and the same again until the
   * request expires: a reply may be lost. `token` is called once; it has an expiry and a device.
   */
  pollPairingRequest(ask: {
    id: PairingId
    pollHash: string
    now: number
    token: (account: AccountId, request: PairingRequestRow) => { draft: TokenDraft; sealed: string }
  }): Promise<RequestPolled | 'unknown'>
  /** The same account may repeat the same bytes; any other answer is rejected as already answered. */
  approvePairingRequest(ask: {
    id: PairingId
    account: AccountId
    device: DeviceId | null
    response: string
    now: number
  }): Promise<'approved' | 'answered-before' | 'unknown'>
  /** Ends a waiting request. */
  rejectPairingRequest(id: PairingId, now: number): Promise<'rejected' | 'answered-before' | 'unknown'>
}
