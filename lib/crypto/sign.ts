import { engine } from '#crypto-engine'
import { fromHex } from './bytes.ts'
import { type Bytes, expectLength, keyLength } from './engine.ts'

// The server may import this file of the folder and no other, so what it needs at start is here too.
export { cryptoReady } from './ready.ts'

/** What `POST /v1/auth` asks for: the account's Ed25519 key and its detached signature over the bare challenge. */
export function signChallenge(accountSecret: Uint8Array, challenge: Uint8Array): { publicKey: Bytes; signature: Bytes } {
  expectLength('accountSecret', accountSecret, keyLength)
  const { publicKey, secretKey } = engine.signSeedKeypair(accountSecret)
  return { publicKey, signature: engine.signDetached(challenge, secretKey) }
}

/**
 * Strict Ed25519 (A2): one key, one message, one signature. Refuses what other libraries let pass: wrong lengths, points of small order
 * (they sign everything), second encodings of a point, S not below the group order. Never throws.
 */
export function verifySignature(claim: { publicKey: Uint8Array; message: Uint8Array; signature: Uint8Array }): boolean {
  const { publicKey, message, signature } = claim
  if (publicKey.length !== keyLength || signature.length !== 2 * keyLength) return false
  const r = signature.subarray(0, keyLength)
  const s = signature.subarray(keyLength)
  if (!isSoundPoint(publicKey) || !isSoundPoint(r) || !isBelow(s, groupOrder)) return false
  return engine.verifyDetached(signature, message, publicKey)
}

function isSoundPoint(encoded: Uint8Array): boolean {
  const y = Uint8Array.from(encoded) // Not `slice`: a Buffer's is a view, and the caller's key would be changed.
  y[31] = (y[31] ?? 0) & 0x7f // The top bit is the sign of x, no part of y.
  return isBelow(y, fieldPrime) && !smallOrderYs.some(small => sameBytes(y, small))
}

/** Both numbers are little-endian. Nothing here is secret, so it may return early. */
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

// The eight points of small order by their y, each standing for both signs of x, and the two that also have an encoding above the prime.
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
