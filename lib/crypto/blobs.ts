import { engine } from '#crypto-engine'
import { concatBytes, toBase64 } from './bytes.ts'
import { type Bytes, boxNonceLength, type RandomBytes } from './engine.ts'

/**
 * nonce(24) ‖ secretbox(raw bytes): an attachment as stored. The key comes from `legacyBlobKey` or
 * `sessionBlobKey`.
 */
export function sealBlob(bytes: Uint8Array, blobKey: Uint8Array, random: RandomBytes = engine.randomBytes): Bytes {
  const nonce = random(boxNonceLength)
  return concatBytes(nonce, engine.secretboxEasy(bytes, nonce, blobKey))
}

/**
 * How a message identifies the exact bytes that it announces: no others under the key have the same
 * nonce.
 */
export function sealOfBlob(stored: Uint8Array): string {
  return toBase64(stored.subarray(0, boxNonceLength))
}

export function openBlob(stored: Uint8Array, blobKey: Uint8Array): Bytes | undefined {
  if (stored.length < boxNonceLength) return undefined
  return engine.secretboxOpenEasy(stored.subarray(boxNonceLength), stored.subarray(0, boxNonceLength), blobKey)
}
