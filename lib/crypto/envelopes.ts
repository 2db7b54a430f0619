import { engine } from '#crypto-engine'
import { concatBytes, decodeUtf8, encodeUtf8, fromBase64, toBase64 } from './bytes.ts'
import { type Bytes, boxNonceLength, expectLength, gcmNonceLength, gcmTagLength, keyLength, type RandomBytes } from './engine.ts'

export type Opened = { ok: true; value: unknown } | { ok: false }

/**
 * One key and its format. `seal` accepts any JSON value (undefined is sealed as empty); both texts are
 * standard base64.
 */
export interface Cipher {
  seal(value: unknown): string
  /** Never throws: a text that was not sealed with this key, or is not JSON, is `{ ok: false }`. */
  open(sealed: string): Opened
  /** The same, off this thread; absent where that gains nothing. */
  openAside?(sealed: string): Promise<Opened>
}

/** For account settings, and for sessions and machines without a data key; `key` is then the account secret. */
export function legacyCipher(key: Uint8Array): Cipher {
  return cipher(key, sealLegacy, openLegacy)
}

/** `key` is the data key of a session, machine or artifact. */
export function dataKeyCipher(key: Uint8Array): Cipher {
  return { ...cipher(key, sealWithDataKey, openWithDataKey), ...openerAside(key) }
}

/** nonce(24) ‖ secretbox(JSON). */
export function sealLegacy(key: Uint8Array, value: unknown, random: RandomBytes = engine.randomBytes): Bytes {
  const nonce = random(boxNonceLength)
  return concatBytes(nonce, engine.secretboxEasy(writePlaintext(value), nonce, key))
}

export function openLegacy(key: Uint8Array, sealed: Uint8Array): Opened {
  if (sealed.length < boxNonceLength) return { ok: false }
  const plaintext = engine.secretboxOpenEasy(sealed.subarray(boxNonceLength), sealed.subarray(0, boxNonceLength), key)
  return plaintext ? readPlaintext(plaintext) : { ok: false }
}

/** 0x00 ‖ nonce(12) ‖ AES-256-GCM(JSON) with its tag(16). */
export function sealWithDataKey(key: Uint8Array, value: unknown, random: RandomBytes = engine.randomBytes): Bytes {
  expectLength('key', key, keyLength)
  const nonce = random(gcmNonceLength)
  return concatBytes(Uint8Array.of(version), nonce, engine.gcmSeal(writePlaintext(value), nonce, key))
}

export function openWithDataKey(key: Uint8Array, sealed: Uint8Array): Opened {
  expectLength('key', key, keyLength)
  if (sealed.length < shortestDataKeyEnvelope || sealed[0] !== version) return { ok: false }
  const nonce = sealed.subarray(1, 1 + gcmNonceLength)
  const plaintext = engine.gcmOpen(sealed.subarray(1 + gcmNonceLength), nonce, key)
  return plaintext ? readPlaintext(plaintext) : { ok: false }
}

const version = 0
const shortestDataKeyEnvelope = 1 + gcmNonceLength + gcmTagLength

function cipher(
  key: Uint8Array,
  seal: (key: Uint8Array, value: unknown) => Bytes,
  open: (key: Uint8Array, sealed: Uint8Array) => Opened
): Cipher {
  expectLength('key', key, keyLength)
  return {
    seal: value => toBase64(seal(key, value)),
    open(sealed) {
      const bytes = fromBase64(sealed)
      return bytes ? open(key, bytes) : { ok: false }
    }
  }
}

/** The platform's AES-GCM, which a page has only in a secure context. */
function openerAside(key: Uint8Array): Pick<Cipher, 'openAside'> {
  const { subtle } = globalThis.crypto
  if (subtle === undefined) return {}
  let imported: ReturnType<typeof subtle.importKey> | undefined
  return {
    async openAside(sealed) {
      const bytes = fromBase64(sealed)
      if (bytes === undefined || bytes.length < shortestDataKeyEnvelope || bytes[0] !== version) return { ok: false }
      imported ??= subtle.importKey('raw', new Uint8Array(key), 'AES-GCM', false, ['decrypt'])
      const iv = bytes.subarray(1, 1 + gcmNonceLength)
      try {
        const plaintext = await subtle.decrypt({ name: 'AES-GCM', iv }, await imported, bytes.subarray(1 + gcmNonceLength))
        return readPlaintext(new Uint8Array(plaintext))
      } catch {
        return { ok: false }
      }
    }
  }
}

function writePlaintext(value: unknown): Bytes {
  const json: string | undefined = JSON.stringify(value)
  return encodeUtf8(json ?? '')
}

// An RPC handler that returned nothing sends an empty plaintext, which is not JSON; all clients read it as
// null.
function readPlaintext(plaintext: Uint8Array): Opened {
  if (plaintext.length === 0) return { ok: true, value: null }
  const json = decodeUtf8(plaintext)
  if (json === undefined) return { ok: false }
  try {
    const value: unknown = JSON.parse(json)
    return { ok: true, value }
  } catch {
    return { ok: false }
  }
}
