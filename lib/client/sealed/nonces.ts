import { fromBase64, toBase64 } from '../../crypto/bytes.ts'

/**
 * Identifies a sealed text in any base64 encoding. Both formats begin with their nonce; what follows
 * the shorter one cannot be changed without breaking the seal.
 */
export function nonceOf(sealed: string): string {
  const head = fromBase64(sealed.slice(0, lettersOfNonce)) ?? fromBase64(sealed)
  return toBase64((head ?? new Uint8Array(0)).subarray(0, longestNonce))
}

const longestNonce = 24
const lettersOfNonce = 32
