const consonants = 'bdfghjklmnprstvz'
const vowels = 'aiou'

/**
 * Four words that can be read aloud, such as `lusab-babad-gutuk-mosij`: the first 64 bits of a key's SHA-256. To
 * approve a request, compare them with the words that the other person sees.
 */
export function fingerprintOf(sha256: Uint8Array): string {
  return [0, 2, 4, 6].map(at => wordOf((sha256[at] ?? 0) * 256 + (sha256[at + 1] ?? 0))).join('-')
}

export const fingerprintLength = 23

function wordOf(bits: number): string {
  const consonant = (shift: number) => consonants[(bits >> shift) & 15]
  const vowel = (shift: number) => vowels[(bits >> shift) & 3]
  return `${consonant(12)}${vowel(10)}${consonant(6)}${vowel(4)}${consonant(0)}`
}
