import { engine } from '#crypto-engine'
import { openBox, sealBox } from './boxes.ts'
import { concatBytes } from './bytes.ts'
import { type Bytes, expectLength, keyLength, type RandomBytes } from './engine.ts'

export type PairingAnswer = { version: 1; accountSecret: Bytes } | { version: 2; contentPublicKey: Bytes }

/**
 * Hands the whole account to the asker: the answer to an account link, and to a terminal that knows
 * nothing newer. 104 bytes.
 */
export function sealAnswerV1(accountSecret: Uint8Array, askerPublicKey: Uint8Array, random: RandomBytes = engine.randomBytes): Bytes {
  expectLength('accountSecret', accountSecret, keyLength)
  return sealBox(accountSecret, askerPublicKey, random)
}

/** Hands over only the write key: the terminal makes its own data keys and wraps them for it. 105 bytes. */
export function sealAnswerV2(contentPublicKey: Uint8Array, askerPublicKey: Uint8Array, random: RandomBytes = engine.randomBytes): Bytes {
  expectLength('contentPublicKey', contentPublicKey, keyLength)
  return sealBox(concatBytes(Uint8Array.of(0), contentPublicKey), askerPublicKey, random)
}

/** The two are distinguished by the length of what was sealed. */
export function openAnswer(answer: Uint8Array, askerSecretKey: Uint8Array): PairingAnswer | undefined {
  const opened = openBox(answer, askerSecretKey)
  if (opened?.length === keyLength) return { version: 1, accountSecret: opened }
  if (opened?.length === 1 + keyLength && opened[0] === 0) return { version: 2, contentPublicKey: opened.slice(1) }
  return undefined
}
