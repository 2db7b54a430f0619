/** The bytes of base64 text in either alphabet, with or without padding; undefined for anything else. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(text)) return undefined
  const digits = text.replace(/=+$/, '')
  if (digits.length % 4 === 1) return undefined
  return Buffer.from(digits, 'base64')
}
