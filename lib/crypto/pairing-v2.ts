import { engine } from '#crypto-engine'
import { openBox, sealBox } from './boxes.ts'
import { concatBytes, encodeUtf8 } from './bytes.ts'
import { type Bytes, boxNonceLength, expectLength, keyLength, type RandomBytes } from './engine.ts'
import { openAnswer, type PairingAnswer } from './pairing-answers.ts'

/**
 * The secret of a link with a check code, shared by the two and never seen by the server: 128 random
 * bits.
 */
export const linkSecretLength = 16

/**
 * The asker's keys: one that the answer is sealed for, and one with which the device will renew its
 * token.
 */
export interface Asker {
  publicKey: Uint8Array
  deviceKey: Uint8Array
}

/** How a link identifies the asker's key: the first 128 bits of its SHA-256. */
export function keyPrint(publicKey: Uint8Array): Bytes {
  return engine.sha256(concatBytes(encodeUtf8('afield-pair-key\0'), publicKey)).slice(0, 16)
}

/**
 * Four digits that both sides compute from the keys of the asker and the secret of the link. The asker
 * shows them, the approver types them: with a link of someone else, or a server that swapped a key,
 * the digits differ.
 */
export function checkCode({ publicKey, deviceKey }: Asker, linkSecret: Uint8Array): string {
  expectLength('linkSecret', linkSecret, linkSecretLength)
  const digest = engine.sha256(concatBytes(encodeUtf8('afield-pair-code\0'), publicKey, deviceKey, linkSecret))
  const number = new DataView(digest.buffer).getUint32(0) % 10_000
  return String(number).padStart(4, '0')
}

/**
 * Encrypts an answer once more with the secret of the link, so that nobody who only knows the asker's
 * key, such as the server, can make one.
 */
export function lockAnswer(answer: Uint8Array, linkSecret: Uint8Array, random: RandomBytes = engine.randomBytes): Bytes {
  const nonce = random(boxNonceLength)
  return concatBytes(nonce, engine.secretboxEasy(answer, nonce, lockKey(linkSecret)))
}

export function openLockedAnswer(locked: Uint8Array, linkSecret: Uint8Array, askerSecretKey: Uint8Array): PairingAnswer | undefined {
  const nonce = locked.slice(0, boxNonceLength)
  if (nonce.length < boxNonceLength) return undefined
  const answer = engine.secretboxOpenEasy(locked.subarray(boxNonceLength), nonce, lockKey(linkSecret))
  return answer && openAnswer(answer, askerSecretKey)
}

/**
 * The asker's description of itself, for the holder of its link: the server passes it on, and can
 * neither read nor change it.
 */
export function sealAbout(about: Uint8Array, linkSecret: Uint8Array, random: RandomBytes = engine.randomBytes): Bytes {
  const nonce = random(boxNonceLength)
  return concatBytes(nonce, engine.secretboxEasy(about, nonce, aboutKey(linkSecret)))
}

export function openAbout(sealed: Uint8Array, linkSecret: Uint8Array): Bytes | undefined {
  if (sealed.length < boxNonceLength) return undefined
  return engine.secretboxOpenEasy(sealed.subarray(boxNonceLength), sealed.slice(0, boxNonceLength), aboutKey(linkSecret))
}

/** What the approver signs with the account key, and the server checks: this asker, this answer, here. */
export interface Approval {
  /** The id of the request. */
  id: string
  asker: Asker
  response: Uint8Array
  origin: string
}

/** A token for the asker alone: a reply captured by a proxy or a log is useless. */
export function sealToken(token: string, askerPublicKey: Uint8Array): Bytes {
  return sealBox(encodeUtf8(token), askerPublicKey)
}

export function openToken(sealed: Uint8Array, askerSecretKey: Uint8Array): string | undefined {
  const opened = openBox(sealed, askerSecretKey)
  return opened && new TextDecoder().decode(opened)
}

export function approvalBytes({ id, asker, response, origin }: Approval): Bytes {
  expectLength('publicKey', asker.publicKey, keyLength)
  expectLength('deviceKey', asker.deviceKey, keyLength)
  const head = encodeUtf8('afield-pair-v2\0')
  return concatBytes(head, asker.publicKey, asker.deviceKey, engine.sha256(response), encodeUtf8(`${id}\0${origin}`))
}

function lockKey(linkSecret: Uint8Array): Bytes {
  return keyFor('afield-pair-lock\0', linkSecret)
}

function aboutKey(linkSecret: Uint8Array): Bytes {
  return keyFor('afield-pair-about\0', linkSecret)
}

function keyFor(purpose: string, linkSecret: Uint8Array): Bytes {
  expectLength('linkSecret', linkSecret, linkSecretLength)
  return engine.sha256(concatBytes(encodeUtf8(purpose), linkSecret))
}
