import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { sha256, sha512 } from '@noble/hashes/sha2.js'
import sodium from 'libsodium-wrappers'
import { concatBytes } from './bytes.ts'
import {
  type Bytes,
  boxNonceLength,
  type Engine,
  expectLength,
  gcmNonceLength,
  gcmTagLength,
  keyLength,
  macLength,
  type Signing
} from './engine.ts'

export const engine: Engine = {
  // libsodium would ask the system for four bytes at a time.
  randomBytes: length => crypto.getRandomValues(new Uint8Array(length)),
  // The types promise them, but only the larger build of libsodium has these two.
  sha256: message => sha256(message),
  sha512: message => sha512(message),

  boxSeedKeypair(seed) {
    expectLength('seed', seed, keyLength)
    return keypair(sodium.crypto_box_seed_keypair(seed))
  },
  boxKeypair: () => keypair(sodium.crypto_box_keypair()),
  boxPublicKey(secretKey) {
    expectLength('secretKey', secretKey, keyLength)
    return owned(sodium.crypto_scalarmult_base(secretKey))
  },
  boxEasy(message, nonce, theirPublicKey, mySecretKey) {
    expectBoxLengths(nonce, theirPublicKey, mySecretKey)
    return owned(sodium.crypto_box_easy(message, nonce, theirPublicKey, mySecretKey))
  },
  boxOpenEasy(sealed, nonce, theirPublicKey, mySecretKey) {
    expectBoxLengths(nonce, theirPublicKey, mySecretKey)
    if (sealed.length < macLength) return undefined
    return unlessThrown(() => sodium.crypto_box_open_easy(sealed, nonce, theirPublicKey, mySecretKey))
  },

  secretboxEasy(message, nonce, key) {
    expectLength('nonce', nonce, boxNonceLength)
    expectLength('key', key, keyLength)
    return owned(sodium.crypto_secretbox_easy(message, nonce, key))
  },
  secretboxOpenEasy(sealed, nonce, key) {
    expectLength('nonce', nonce, boxNonceLength)
    expectLength('key', key, keyLength)
    if (sealed.length < macLength) return undefined
    return unlessThrown(() => sodium.crypto_secretbox_open_easy(sealed, nonce, key))
  },

  // From Node.js itself: libsodium has it only with hardware support, and in JavaScript it takes ten times
  // as long.
  gcmSeal(message, nonce, key) {
    expectLength('nonce', nonce, gcmNonceLength)
    expectLength('key', key, keyLength)
    const cipher = createCipheriv('aes-256-gcm', keptKey(key), nonce)
    return concatBytes(cipher.update(message), cipher.final(), cipher.getAuthTag())
  },
  gcmOpen(sealed, nonce, key) {
    expectLength('nonce', nonce, gcmNonceLength)
    expectLength('key', key, keyLength)
    if (sealed.length < gcmTagLength) return undefined
    const decipher = createDecipheriv('aes-256-gcm', keptKey(key), nonce)
    decipher.setAuthTag(sealed.subarray(-gcmTagLength))
    return unlessThrown(() => concatBytes(decipher.update(sealed.subarray(0, -gcmTagLength)), decipher.final()))
  }
}

export const signing: Signing = {
  signSeedKeypair(seed) {
    expectLength('seed', seed, keyLength)
    return keypair(sodium.crypto_sign_seed_keypair(seed))
  },
  signDetached(message, secretKey) {
    expectLength('secretKey', secretKey, 2 * keyLength)
    return owned(sodium.crypto_sign_detached(message, secretKey))
  },
  verifyDetached(signature, message, publicKey) {
    if (signature.length !== 64 || publicKey.length !== keyLength) return false
    return sodium.crypto_sign_verify_detached(signature, message, publicKey)
  },

  signPrehashed(message, secretKey) {
    expectLength('secretKey', secretKey, 2 * keyLength)
    return owned(sodium.crypto_sign_final_create(hashed(message), secretKey))
  },
  verifyPrehashed(signature, message, publicKey) {
    if (signature.length !== 64 || publicKey.length !== keyLength) return false
    return sodium.crypto_sign_final_verify(hashed(message), signature, publicKey)
  }
}

export const ready: Promise<void> = sodium.ready

const keys = new WeakMap<Uint8Array, KeyObject>()

// Creating one costs as much as sealing a message with it. Holders of a key do not change its bytes.
function keptKey(key: Uint8Array): KeyObject {
  const known = keys.get(key)
  if (known) return known
  const made = createSecretKey(key)
  keys.set(key, made)
  return made
}

function hashed(message: Uint8Array) {
  const state = sodium.crypto_sign_init()
  sodium.crypto_sign_update(state, message)
  return state
}

function expectBoxLengths(nonce: Uint8Array, publicKey: Uint8Array, secretKey: Uint8Array): void {
  expectLength('nonce', nonce, boxNonceLength)
  expectLength('theirPublicKey', publicKey, keyLength)
  expectLength('mySecretKey', secretKey, keyLength)
}

// Both throw when a MAC does not match; with the lengths checked before, that is the only reason left.
function unlessThrown(open: () => Uint8Array): Bytes | undefined {
  try {
    return owned(open())
  } catch {
    return undefined
  }
}

function keypair(pair: { publicKey: Uint8Array; privateKey: Uint8Array }) {
  return { publicKey: owned(pair.publicKey), secretKey: owned(pair.privateKey) }
}

// libsodium copies its results out of the WebAssembly memory, although its types do not say so. A view
// into it would change later.
function owned(bytes: Uint8Array): Bytes {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length) return new Uint8Array(buffer)
  return new Uint8Array(bytes)
}
