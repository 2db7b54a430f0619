import { signing } from '#crypto-signing'
import { concatBytes, encodeUtf8, fromHex } from './bytes.ts'
import { type Bytes, expectLength, type Keypair, keyLength } from './engine.ts'
import { type Approval, approvalBytes, sealToken } from './pairing-v2.ts'

// The server may import only this file of the folder, so its other needs are here too.
export { cryptoReady } from './ready.ts'
export { sealToken }

/** What `POST /v1/auth` asks for: the account's Ed25519 key and its detached signature over the bare challenge. */
export function signChallenge(accountSecret: Uint8Array, challenge: Uint8Array): { publicKey: Bytes; signature: Bytes } {
  expectLength('accountSecret', accountSecret, keyLength)
  const { publicKey, secretKey } = signing.signSeedKeypair(accountSecret)
  return { publicKey, signature: signing.signDetached(challenge, secretKey) }
}

/**
 * Strict Ed25519 (A2): one key, one message, one signature. Rejects what other libraries accept: wrong
 * lengths, points of small order (they sign everything), second encodings of a point, S not below the
 * group order. Never throws.
 */
export function verifySignature(claim: Claim): boolean {
  return isSoundClaim(claim) && signing.verifyDetached(claim.signature, claim.message, claim.publicKey)
}

/** Equally strict, for a signature of `signForServer`. Never throws. */
export function verifyForServer(claim: { publicKey: Uint8Array; signature: Uint8Array; said: ForServer }): boolean {
  const { publicKey, signature, said } = claim
  const message = forServer(said)
  return isSoundClaim({ publicKey, message, signature }) && signing.verifyPrehashed(signature, message, publicKey)
}

/**
 * The content of a signature for a server. It is valid only for that server, under that origin, once,
 * for that device and purpose.
 */
export interface ForServer {
  /** SHA-256 of the server's identity key. */
  serverKeyId: Uint8Array
  /** Such as `https://home.example`, as the client knows the server. */
  origin: string
  /** 32 bytes that the server issued a moment ago. */
  nonce: Uint8Array
  /** Ed25519 public key of the device. */
  deviceKey: Uint8Array
  purpose: Purpose
}

export type Purpose = 'sign-in' | 'renew' | 'delete-account'

/** Ed25519ph, by the key of the account or of the device; `secretKey` has 64 bytes. */
export function signForServer(secretKey: Uint8Array, said: ForServer): Bytes {
  return signing.signPrehashed(forServer(said), secretKey)
}

// Longer than any legacy challenge, and prehashed: neither can be mistaken for the other.
function forServer({ serverKeyId, origin, nonce, deviceKey, purpose }: ForServer): Bytes {
  expectLength('serverKeyId', serverKeyId, keyLength)
  expectLength('nonce', nonce, keyLength)
  expectLength('deviceKey', deviceKey, keyLength)
  return concatBytes(encodeUtf8('afield-auth-v2\0'), serverKeyId, encodeUtf8(origin), nonce, deviceKey, encodeUtf8(purpose))
}

/** Ed25519ph by the key of the account, over an approval as `approvalBytes` encodes it. */
export function signApproval(secretKey: Uint8Array, approval: Approval): Bytes {
  return signing.signPrehashed(approvalBytes(approval), secretKey)
}

/** Equally strict. Never throws. */
export function verifyApproval(claim: { publicKey: Uint8Array; signature: Uint8Array; approval: Approval }): boolean {
  const { publicKey, signature, approval } = claim
  const message = approvalBytes(approval)
  return isSoundClaim({ publicKey, message, signature }) && signing.verifyPrehashed(signature, message, publicKey)
}

/** The Ed25519 keys derived from 32 random bytes; the secret key has 64. */
export function signingKeypair(seed: Uint8Array): Keypair {
  return signing.signSeedKeypair(seed)
}

/** Ed25519: the account's identity for the server. The secret key has 64 bytes. */
export function signInKeypair(accountSecret: Uint8Array): Keypair {
  expectLength('accountSecret', accountSecret, keyLength)
  return signing.signSeedKeypair(accountSecret)
}

interface Claim {
  publicKey: Uint8Array
  message: Uint8Array
  signature: Uint8Array
}

function isSoundClaim({ publicKey, signature }: Claim): boolean {
  if (publicKey.length !== keyLength || signature.length !== 2 * keyLength) return false
  const r = signature.subarray(0, keyLength)
  const s = signature.subarray(keyLength)
  return isSoundPoint(publicKey) && isSoundPoint(r) && isBelow(s, groupOrder)
}

function isSoundPoint(encoded: Uint8Array): boolean {
  const y = Uint8Array.from(encoded) // Not `slice`: a Buffer's is a view, and the caller's key would be changed.
  y[31] = (y[31] ?? 0) & 0x7f // The top bit is the sign of x, not part of y.
  return isBelow(y, fieldPrime) && !smallOrderYs.some(small => sameBytes(y, small))
}

/** Both numbers are little-endian. Nothing here is secret, so an early return is fine. */
function isBelow(number: Uint8Array, limit: Uint8Array): boolean {
  for (let index = limit.length - 1; index >= 0; index--) {
    const byte = number[index] ?? 0
    const bound = limit[index] ?? 0
    if (byte !== bound) return byte < bound
  }
  return false
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((byte, index) => byte === other[index])
}

const groupOrder = constant('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')
const fieldPrime = constant('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f')

// The eight points of small order by their y, each for both signs of x, and the two that also have an
// encoding above the prime.
const smallOrderYs = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'
].map(constant)

function constant(hex: string): Bytes {
  const bytes = fromHex(hex)
  if (!bytes) throw new TypeError(`not hexadecimal: ${hex}`)
  return bytes
}
