import { ed25519, ed25519ph } from '@noble/curves/ed25519.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { concatBytes, encodeUtf8 } from './bytes.ts'
import { expectLength, keyLength, type Signing } from './engine.ts'

export const signing: Signing = {
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
  }
}

// ed25519.verify multiplies by the cofactor and so accepts keys and signatures with a torsion part, which
// libsodium rejects. An account must exist in both engines or none, hence the same equation here: R is the
// encoding of S·B − k·A.
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
