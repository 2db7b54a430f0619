import { fromBase64 } from './bytes.ts'
import { type Bytes, expectLength, keyLength } from './engine.ts'

/** `group` counts from 1, as a person would when reading the key aloud. */
export type BackupKeyReading =
  | { ok: true; secret: Bytes }
  | { ok: false; problem: 'impossible-letter'; group: number }
  /** `group` is the first one that has too few or too many letters, when the text has groups at all. */
  | { ok: false; problem: 'wrong-length'; letters: number; group?: number }

/** Ten groups of five letters and one of two, in base32, for a person to write down. */
export function formatBackupKey(accountSecret: Uint8Array): string {
  expectLength('accountSecret', accountSecret, keyLength)
  return base32(accountSecret).replace(/.{5}(?=.)/g, '$&-')
}

/**
 * Parses a key as people type it: any case, any separators or none, and 0, 1, 8, 9 (which no key
 * contains) as the letters they look like. Also accepts the base64url form, 43 characters.
 */
export function readBackupKey(text: string): BackupKeyReading {
  const trimmed = text.trim()
  const secret = readBase64Form(trimmed)
  if (secret) return { ok: true, secret }

  const groups = trimmed.split(separators).filter(group => group !== '')
  const letters = groups.flatMap(group => [...group]).map(asKeyLetter)
  const strange = letters.findIndex(letter => !alphabet.includes(letter))
  if (strange !== -1) return { ok: false, problem: 'impossible-letter', group: groupAt(groups, strange) }
  if (letters.length !== keyLetters) return wrongLength(groups, letters.length)

  const bytes = fromBase32(letters.join(''))
  if (!bytes) return { ok: false, problem: 'impossible-letter', group: groupAt(groups, keyLetters - 1) }
  return { ok: true, secret: bytes }
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const lookalikes = new Map([
  ['0', 'O'],
  ['1', 'I'],
  ['8', 'B'],
  ['9', 'G']
])
const keyLetters = 52
const groupLetters = 5
// Anything that is not a letter, mark or digit in any script; "ü" must be reported, not dropped.
const separators = /[^\p{L}\p{M}\p{N}]+/u

function asKeyLetter(typed: string): string {
  const upper = typed.toUpperCase()
  return lookalikes.get(upper) ?? upper
}

// A truncated or grouped text must not pass for base64url: that would silently be another account.
function readBase64Form(text: string): Bytes | undefined {
  const isOneCase = /^(?:[A-Z0-9]+|[a-z0-9]+)$/.test(text)
  const isGrouped = !/[^-]{7}/.test(text)
  if (isOneCase || isGrouped) return undefined
  const bytes = fromBase64(text)
  return bytes?.length === keyLength ? bytes : undefined
}

function groupAt(groups: readonly string[], letter: number): number {
  if (groups.length === 1) return 1 + Math.floor(letter / groupLetters)
  const groupByLetter = groups.flatMap((group, index) => [...group].map(() => 1 + index))
  return groupByLetter[letter] ?? groups.length
}

function wrongLength(groups: readonly string[], letters: number): BackupKeyReading {
  const odd = groups.findIndex((group, index) => [...group].length !== lettersOfGroup(index))
  if (groups.length === 1 || odd === -1) return { ok: false, problem: 'wrong-length', letters }
  return { ok: false, problem: 'wrong-length', letters, group: 1 + odd }
}

function lettersOfGroup(index: number): number {
  return Math.max(0, Math.min(groupLetters, keyLetters - groupLetters * index))
}

function base32(bytes: Uint8Array): string {
  let bits = 0
  let held = 0
  let text = ''
  for (const byte of bytes) {
    bits = ((bits << 8) | byte) & 0xfff
    held += 8
    while (held >= 5) {
      held -= 5
      text += alphabet.charAt((bits >> held) & 31)
    }
  }
  return held === 0 ? text : text + alphabet.charAt((bits << (5 - held)) & 31)
}

/** Undefined if bits are set after the last byte: a typo in the last letter. */
function fromBase32(letters: string): Bytes | undefined {
  const bytes = new Uint8Array(Math.floor((letters.length * 5) / 8))
  let bits = 0
  let held = 0
  let at = 0
  for (const letter of letters) {
    bits = ((bits << 5) | alphabet.indexOf(letter)) & 0xfff
    held += 5
    if (held >= 8) {
      held -= 8
      bytes[at++] = (bits >> held) & 0xff
    }
  }
  return (bits & ((1 << held) - 1)) === 0 ? bytes : undefined
}
