/**
 * Bytes in memory of their own, as every function here returns them; `fetch`, `Blob` and WebSockets
 * accept them directly.
 */
export type Bytes = Uint8Array<ArrayBuffer>

export type RandomBytes = (length: number) => Bytes

export interface Keypair {
  publicKey: Bytes
  secretKey: Bytes
}

/**
 * The primitives that the wire needs, those of libsodium and one more, the same in Node and in the
 * browser. Every function is synchronous and is called only after `cryptoReady()`. A key, seed or
 * nonce of the wrong length is a caller's bug and throws a RangeError; bytes that do not open or
 * verify are a result (`undefined`, `false`).
 */
export interface Engine {
  randomBytes: RandomBytes
  sha256(message: Uint8Array): Bytes
  sha512(message: Uint8Array): Bytes

  /** X25519; the secret key is the first half of SHA-512(seed). */
  boxSeedKeypair(seed: Uint8Array): Keypair
  boxKeypair(): Keypair
  boxPublicKey(secretKey: Uint8Array): Bytes
  /** MAC(16) ‖ ciphertext. Throws when `theirPublicKey` is a point of small order, with which no secret can be shared. */
  boxEasy(message: Uint8Array, nonce: Uint8Array, theirPublicKey: Uint8Array, mySecretKey: Uint8Array): Bytes
  boxOpenEasy(sealed: Uint8Array, nonce: Uint8Array, theirPublicKey: Uint8Array, mySecretKey: Uint8Array): Bytes | undefined

  /** MAC(16) ‖ ciphertext, XSalsa20-Poly1305. */
  secretboxEasy(message: Uint8Array, nonce: Uint8Array, key: Uint8Array): Bytes
  secretboxOpenEasy(sealed: Uint8Array, nonce: Uint8Array, key: Uint8Array): Bytes | undefined

  /** Ciphertext ‖ tag(16), AES-256-GCM. */
  gcmSeal(message: Uint8Array, nonce: Uint8Array, key: Uint8Array): Bytes
  gcmOpen(sealed: Uint8Array, nonce: Uint8Array, key: Uint8Array): Bytes | undefined
}

/**
 * Like an `Engine`, for signatures. Separate, because a browser signs so rarely that it loads this
 * half of its curves only then.
 */
export interface Signing {
  /** Ed25519 from a seed of 32 bytes; the secret key is seed ‖ public key, 64 bytes. */
  signSeedKeypair(seed: Uint8Array): Keypair
  signDetached(message: Uint8Array, secretKey: Uint8Array): Bytes
  /**
   * Without the cofactor, like libsodium: the recomputed R equals the bytes of the signature. For what
   * a server accepts, see `verifySignature`.
   */
  verifyDetached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean

  /** Ed25519ph of RFC 8032: no such signature is ever valid as plain Ed25519, nor the other way round. */
  signPrehashed(message: Uint8Array, secretKey: Uint8Array): Bytes
  verifyPrehashed(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
}

export const keyLength = 32
export const boxNonceLength = 24
export const macLength = 16
export const gcmNonceLength = 12
export const gcmTagLength = 16

/** Throws a RangeError naming the argument; keys and nonces never appear in the message. */
export function expectLength(name: string, bytes: Uint8Array, length: number): void {
  if (bytes.length !== length) throw new RangeError(`${name} has ${bytes.length} bytes instead of ${length}`)
}
