import { hmac } from '@noble/hashes/hmac.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { engine } from '#crypto-engine'
import { concatBytes, encodeUtf8, toHex } from './bytes.ts'
import { type Bytes, expectLength, type Keypair, keyLength } from './engine.ts'

/** The key at `path` in the tree that `usage` grows from `seed`: HMAC-SHA512, the left half a key, the right half the chain code below it. */
export function deriveKey(seed: Uint8Array, usage: string, path: readonly string[]): Bytes {
  const root = hmac(sha512, encodeUtf8(`${usage} Master Seed`), seed)
  const node = path.reduce((parent, label) => hmac(sha512, parent.subarray(keyLength), childData(label)), root)
  return node.slice(0, keyLength)
}

/** X25519: data keys are wrapped for it. Terminals get the public half only. */
export function deriveContentKeypair(accountSecret: Uint8Array): Keypair {
  expectLength('accountSecret', accountSecret, keyLength)
  return engine.boxSeedKeypair(deriveKey(accountSecret, 'Happy EnCoder', ['content']))
}

/**
 * The secret half alone, at a fraction of the cost: it is enough to open what was wrapped for the
 * account.
 */
export function contentSecretKey(accountSecret: Uint8Array): Bytes {
  expectLength('accountSecret', accountSecret, keyLength)
  return engine.sha512(deriveKey(accountSecret, 'Happy EnCoder', ['content'])).slice(0, keyLength)
}

/** For attachments of a session without a data key. */
export function legacyBlobKey(accountSecret: Uint8Array): Bytes {
  expectLength('accountSecret', accountSecret, keyLength)
  return deriveKey(accountSecret, 'Happy Blobs', ['master'])
}

/** For attachments of a session that has a data key. */
export function sessionBlobKey(dataKey: Uint8Array): Bytes {
  expectLength('dataKey', dataKey, keyLength)
  return deriveKey(dataKey, 'Happy Blobs', ['session'])
}

/** 16 hexadecimal digits that name an account without identifying it. */
export function analyticsId(accountSecret: Uint8Array): string {
  expectLength('accountSecret', accountSecret, keyLength)
  return toHex(deriveKey(accountSecret, 'Happy Coder', ['analytics', 'id'])).slice(0, 16)
}

function childData(label: string): Bytes {
  return concatBytes(Uint8Array.of(0), encodeUtf8(label))
}
