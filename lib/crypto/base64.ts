import type { Bytes } from './engine.ts'

/** Standard alphabet, padded. */
export function toBase64(bytes: Uint8Array): string {
  return encodeNatively?.(bytes) ?? encodePortably(bytes, standardAlphabet)
}

/** URL alphabet, no padding. */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/**
 * Either alphabet, with or without padding. Anything else gives undefined: spaces, partial padding, an
 * impossible length, bits set after the last byte (so that no two texts of one alphabet mean the same
 * bytes).
 */
export function fromBase64(text: string): Bytes | undefined {
  if (!shape.test(text)) return undefined
  const body = text.replace(/=+$/, '')
  if (body.length % 4 === 1 || (body.length !== text.length && text.length % 4 !== 0)) return undefined
  return decodeNatively ? decodeNatively(body) : decodePortably(body)
}

/** Only the canonical standard form of exactly `length` bytes; the size is checked before anything else. */
export function fromBase64Exact(text: string, length: number): Bytes | undefined {
  if (text.length !== 4 * Math.ceil(length / 3) || text.includes('-') || text.includes('_')) return undefined
  const bytes = fromBase64(text)
  return bytes?.length === length ? bytes : undefined
}

const standardAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const shape = /^[A-Za-z0-9+/_-]*={0,2}$/
const invalid = 255

// Node 24 has no Uint8Array.fromBase64 yet, browsers do. Accessed by name, since the ES2024 types do not
// have it.
const decodeNatively = nativeDecoder()
const encodeNatively = nativeEncoder()

function nativeDecoder(): ((body: string) => Bytes | undefined) | undefined {
  const decode: unknown = Reflect.get(Uint8Array, 'fromBase64')
  if (typeof decode !== 'function') return undefined
  return body => {
    const padded = body
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .padEnd(4 * Math.ceil(body.length / 4), '=')
    try {
      const bytes: unknown = Reflect.apply(decode, Uint8Array, [padded, { lastChunkHandling: 'strict' }])
      return bytes instanceof Uint8Array ? new Uint8Array(bytes) : undefined
    } catch {
      return undefined
    }
  }
}

function nativeEncoder(): ((bytes: Uint8Array) => string | undefined) | undefined {
  const encode: unknown = Reflect.get(Uint8Array.prototype, 'toBase64')
  const { Buffer }: { Buffer?: typeof globalThis.Buffer } = globalThis
  if (typeof encode !== 'function') return Buffer && (bytes => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'))
  return bytes => {
    const text: unknown = Reflect.apply(encode, bytes, [])
    return typeof text === 'string' ? text : undefined
  }
}

/** Exported for the test that compares it with the native one. */
export function encodePortably(bytes: Uint8Array, alphabet = standardAlphabet): string {
  const codes = new Uint8Array(4 * Math.ceil(bytes.length / 3)).fill('='.charCodeAt(0))
  const code = (bits: number) => alphabet.charCodeAt(bits & 63)
  let at = 0
  for (let index = 0; index < bytes.length; index += 3) {
    const left = bytes.length - index
    const chunk = ((bytes[index] ?? 0) << 16) | ((bytes[index + 1] ?? 0) << 8) | (bytes[index + 2] ?? 0)
    codes[at] = code(chunk >> 18)
    codes[at + 1] = code(chunk >> 12)
    if (left > 1) codes[at + 2] = code(chunk >> 6)
    if (left > 2) codes[at + 3] = code(chunk)
    at += 4
  }
  return new TextDecoder().decode(codes)
}

/** Accepts text without padding. Exported for the test that compares it with the native one. */
export function decodePortably(body: string): Bytes | undefined {
  const bytes = new Uint8Array(Math.floor((body.length * 3) / 4))
  let bits = 0
  let held = 0
  let at = 0
  for (let index = 0; index < body.length; index++) {
    const value = valueByCode[body.charCodeAt(index)] ?? invalid
    if (value === invalid) return undefined
    bits = ((bits << 6) | value) & 0xffff
    held += 6
    if (held >= 8) {
      held -= 8
      bytes[at++] = bits >> held
    }
  }
  const behindTheLastByte = bits & ((1 << held) - 1)
  return behindTheLastByte === 0 ? bytes : undefined
}

const valueByCode = (() => {
  const values = new Uint8Array(128).fill(invalid)
  for (let value = 0; value < 64; value++) values[standardAlphabet.charCodeAt(value)] = value
  values['-'.charCodeAt(0)] = 62
  values['_'.charCodeAt(0)] = 63
  return values
})()
