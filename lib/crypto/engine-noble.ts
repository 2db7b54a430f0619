import { gcm } from '@noble/ciphers/aes.js'
import { hsalsa, xsalsa20poly1305 } from '@noble/ciphers/salsa.js'
import { pow } from '@noble/curves/abstract/modular.js'
import { montgomery } from '@noble/curves/abstract/montgomery.js'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import { randomBytes } from '@noble/hashes/utils.js'
import { type Bytes, boxNonceLength, type Engine, expectLength, gcmNonceLength, gcmTagLength, keyLength, macLength } from './engine.ts'

// The package's own x25519 includes all of Ed25519, to make public keys faster. A browser makes few of
// them.
const prime = 2n ** 255n - 19n
const x25519 = montgomery({
  P: prime,
  type: 'x25519',
  powPminus2: x => pow(x, prime - 2n, prime),
  adjustScalarBytes: clamped
})

/** The bytes of a secret key are clamped as in RFC 7748. */
function clamped(bytes: Uint8Array): Uint8Array {
  bytes[0] = (bytes[0] ?? 0) & 248
  bytes[31] = ((bytes[31] ?? 0) & 127) | 64
  return bytes
}

export const engine: Engine = {
  randomBytes: length => randomBytes(length),
  sha256: message => sha256(message),
  sha512: message => sha512(message),

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
  },

  gcmSeal(message, nonce, key) {
    expectLength('nonce', nonce, gcmNonceLength)
    expectLength('key', key, keyLength)
    return gcm(key, nonce).encrypt(message)
  },
  gcmOpen(sealed, nonce, key) {
    expectLength('nonce', nonce, gcmNonceLength)
    expectLength('key', key, keyLength)
    if (sealed.length < gcmTagLength) return undefined
    return unlessThrown(() => gcm(key, nonce).decrypt(sealed))
  }
}

export const ready: Promise<void> = Promise.resolve()

// @noble returns a view after 32 bytes of scratch space, which IndexedDB or a worker would copy too: hence
// the slices.
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

function unlessThrown(attempt: () => Bytes): Bytes | undefined {
  try {
    return attempt()
  } catch {
    return undefined
  }
}
