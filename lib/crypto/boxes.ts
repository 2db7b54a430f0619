import { engine } from '#crypto-engine'
import { concatBytes } from './bytes.ts'
import { type Bytes, boxNonceLength, expectLength, keyLength, macLength, type RandomBytes } from './engine.ts'

/**
 * ephemeral public key(32) ‖ nonce(24) ‖ box. Anyone can seal, only the recipient opens, and the
 * sender is anonymous. Throws if the recipient's key cannot receive: check foreign keys with
 * `canReceiveBoxes`.
 */
export function sealBox(bytes: Uint8Array, recipientPublicKey: Uint8Array, random: RandomBytes = engine.randomBytes): Bytes {
  const ephemeralSecretKey = random(keyLength)
  const nonce = random(boxNonceLength)
  const box = engine.boxEasy(bytes, nonce, recipientPublicKey, ephemeralSecretKey)
  return concatBytes(engine.boxPublicKey(ephemeralSecretKey), nonce, box)
}

export function openBox(bundle: Uint8Array, recipientSecretKey: Uint8Array): Bytes | undefined {
  expectLength('recipientSecretKey', recipientSecretKey, keyLength)
  if (bundle.length < headLength + macLength) return undefined
  const ephemeralPublicKey = bundle.subarray(0, keyLength)
  // X25519 ignores the top bit of a key and nobody sets it: each sealed value has one form.
  if ((bundle[keyLength - 1] ?? 0) & 0x80) return undefined
  const nonce = bundle.subarray(keyLength, headLength)
  return engine.boxOpenEasy(bundle.subarray(headLength), nonce, ephemeralPublicKey, recipientSecretKey)
}

/**
 * False for keys of the wrong length and for points of small order, with which everyone shares the
 * same secret.
 */
export function canReceiveBoxes(publicKey: Uint8Array): boolean {
  if (publicKey.length !== keyLength) return false
  try {
    engine.boxEasy(new Uint8Array(0), new Uint8Array(boxNonceLength), publicKey, new Uint8Array(keyLength).fill(1))
    return true
  } catch {
    return false
  }
}

/** The 105 bytes of `dataEncryptionKey`. */
export function wrapDataKey(dataKey: Uint8Array, contentPublicKey: Uint8Array, random: RandomBytes = engine.randomBytes): Bytes {
  expectLength('dataKey', dataKey, keyLength)
  return concatBytes(Uint8Array.of(version), sealBox(dataKey, contentPublicKey, random))
}

export function unwrapDataKey(wrapped: Uint8Array, contentSecretKey: Uint8Array): Bytes | undefined {
  if (wrapped[0] !== version) return undefined
  const dataKey = openBox(wrapped.subarray(1), contentSecretKey)
  return dataKey?.length === keyLength ? dataKey : undefined
}

const headLength = keyLength + boxNonceLength
const version = 0
