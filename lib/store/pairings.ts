import type { AccountId, DeviceId } from '../protocol/wire/ids.ts'
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
