import { hsalsa, xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import { ed25519, ed25519ph, x25519 } from '@noble/curves/ed25519.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { randomBytes } from '@noble/hashes/utils.js'
import { concatBytes, encodeUtf8 } from './bytes.ts'
import { type Bytes, boxNonceLength, type Engine, expectLength, keyLength, macLength } from './engine.ts'

export const engine: Engine = {
  randomBytes: length => randomBytes(length),
  sha256: message => sha256(message),
  sha512: message => sha512(message),

  signSeedKeypair(seed) {
    expectLength('seed', seed, keyLength)
    const publicKey = ed25519.getPublicKey(seed)
    const secretKey = new Uint8Array(2 * keyLength)
    secretKey.set(seed)
    secretKey.set(publicKey, keyLength)
    return { publicKey, secretKey }
  },
  signDetached(message, secretKey) {
    expectLength('secretKey', secretKey, 2 * keyLength)
    return ed25519.sign(message, secretKey.subarray(0, keyLength))
  },
  verifyDetached(signature, message, publicKey) {
    if (signature.length !== 64 || publicKey.length !== keyLength) return false
    return verifyWithoutCofactor(signature, message, publicKey)
  },
  signPrehashed(message, secretKey) {
    expectLength('secretKey', secretKey, 2 * keyLength)
    return ed25519ph.sign(message, secretKey.subarray(0, keyLength))
  },
  verifyPrehashed(signature, message, publicKey) {
    if (signature.length !== 64 || publicKey.length !== keyLength) return false
    return verifyWithoutCofactor(signature, sha512(message), publicKey, prehashedDomain)
  },

  boxSeedKeypair(seed) {
    expectLength('seed', seed, keyLength)
    return boxKeypairOf(sha512(seed).slice(0, keyLength))
  },
  boxKeypair: () => boxKeypairOf(randomBytes(keyLength)),
  boxPublicKey(secretKey) {
    expectLength('secretKey', secretKey, keyLength)
    return x25519.getPublicKey(secretKey)
  },
  boxEasy(message, nonce, theirPublicKey, mySecretKey) {
    expectLength('nonce', nonce, boxNonceLength)
    return seal(sharedKey(theirPublicKey, mySecretKey), nonce, message)
  },
  boxOpenEasy(sealed, nonce, theirPublicKey, mySecretKey) {
    expectLength('nonce', nonce, boxNonceLength)
    expectLength('theirPublicKey', theirPublicKey, keyLength)
    expectLength('mySecretKey', mySecretKey, keyLength)
    if (sealed.length < macLength) return undefined
    return unlessThrown(() => open(sharedKey(theirPublicKey, mySecretKey), nonce, sealed))
  },

  secretboxEasy(message, nonce, key) {
    expectLength('nonce', nonce, boxNonceLength)
    expectLength('key', key, keyLength)
    return seal(key, nonce, message)
  },
  secretboxOpenEasy(sealed, nonce, key) {
    expectLength('nonce', nonce, boxNonceLength)
    expectLength('key', key, keyLength)
    if (sealed.length < macLength) return undefined
    return unlessThrown(() => open(key, nonce, sealed))
  }
}

export const ready: Promise<void> = Promise.resolve()

// @noble answers with a view behind 32 bytes of work space, which IndexedDB or a worker would copy along: hence the slices.
function seal(key: Uint8Array, nonce: Uint8Array, message: Uint8Array): Bytes {
  return xsalsa20poly1305(key, nonce).encrypt(message).slice()
}

function open(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Bytes {
  return xsalsa20poly1305(key, nonce).decrypt(sealed).slice()
}

function boxKeypairOf(secretKey: Bytes) {
  return { publicKey: x25519.getPublicKey(secretKey), secretKey }
}

/** crypto_box_beforenm: HSalsa20 over the X25519 point with a nonce of zeros. */
function sharedKey(theirPublicKey: Uint8Array, mySecretKey: Uint8Array): Bytes {
  expectLength('theirPublicKey', theirPublicKey, keyLength)
  expectLength('mySecretKey', mySecretKey, keyLength)
  const point = x25519.getSharedSecret(mySecretKey, theirPublicKey)
  const key = new Uint32Array(8)
  hsalsa(sigma, words(point), new Uint32Array(4), key)
  return bytesOf(key)
}

// "expand 32-byte k"
const sigma = Uint32Array.of(0x61707865, 0x3320646e, 0x79622d32, 0x6b206574)

function words(bytes: Uint8Array): Uint32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Uint32Array.from({ length: bytes.length / 4 }, (_, index) => view.getUint32(4 * index, true))
}

function bytesOf(numbers: Uint32Array): Bytes {
  const bytes = new Uint8Array(4 * numbers.length)
  const view = new DataView(bytes.buffer)
  numbers.forEach((number, index) => {
    view.setUint32(4 * index, number, true)
  })
  return bytes
}

// ed25519.verify multiplies by the cofactor and so accepts keys and signatures with a torsion part, which libsodium refuses.
// An account must not exist in one engine only, hence the same equation here: R is the encoding of S·B − k·A.
function verifyWithoutCofactor(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array, domain = noDomain): boolean {
  try {
    const { Point } = ed25519
    const key = Point.fromBytes(publicKey)
    const r = signature.subarray(0, keyLength)
    if (key.isSmallOrder() || Point.fromBytes(r).isSmallOrder()) return false
    const s = littleEndian(signature.subarray(keyLength))
    const k = Point.Fn.create(littleEndian(sha512.create().update(domain).update(r).update(publicKey).update(message).digest()))
    const recomputed = Point.BASE.multiplyUnsafe(s).subtract(key.multiplyUnsafe(k)).toBytes()
    return recomputed.every((byte, index) => byte === r[index])
  } catch {
    return false
  }
}

const noDomain = new Uint8Array(0)
/** dom2(1, '') of RFC 8032. */
const prehashedDomain = concatBytes(encodeUtf8('SigEd25519 no Ed25519 collisions'), Uint8Array.of(1, 0))

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n)
}

function unlessThrown(attempt: () => Bytes): Bytes | undefined {
  try {
    return attempt()
  } catch {
    return undefined
  }
}
