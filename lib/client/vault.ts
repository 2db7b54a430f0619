import type { Bytes } from '../crypto/bytes.ts'
import type { Cipher } from '../crypto/envelopes.ts'

/** A key with what the server keeps of it. `wrapped` is the `dataEncryptionKey` to post, null for legacy encryption. */
export interface SealingKey {
  cipher: Cipher
  wrapped: string | null
  /** 32 bytes, for keeping on this machine only. */
  raw: Bytes
}

/** What the owner of the account secret can do. Call after `cryptoReady()`. */
export interface AccountVault {
  readonly secret: Bytes
  /** base64 of the Ed25519 key by which the server knows the account. */
  readonly publicKey: string
  readonly contentPublicKey: Bytes
  /** For account settings. */
  readonly settings: Cipher
  /** For a session or machine by its `dataEncryptionKey`; undefined when that was wrapped for another account. */
  openKey(dataEncryptionKey: string | null): Cipher | undefined
  newKey(): SealingKey
}

/** What a paired terminal can do: write for the account, read what it wrote itself. */
export interface TerminalVault {
  /** 1 is the old pairing that handed over the account secret: legacy encryption for everything. */
  readonly version: 1 | 2
  /** For the row of this machine and for calls of it. */
  readonly machine: SealingKey
  newSessionKey(): SealingKey
  /** For a session of this machine whose raw key was kept. */
  openSessionKey(raw: Uint8Array): SealingKey
}

/** What pairing gave the terminal, and what it keeps between runs. */
export type TerminalKeys = { version: 2; contentPublicKey: Bytes; machineKey: Bytes } | { version: 1; secret: Bytes }

export declare function accountVault(secret: Uint8Array): AccountVault
export declare function terminalVault(keys: TerminalKeys): TerminalVault
