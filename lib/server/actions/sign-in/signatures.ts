import { hash } from 'node:crypto'
import { type Purpose, signingKeypair, verifyApproval, verifyForServer, verifySignature } from '../../../crypto/sign.ts'
import { failure } from '../../../protocol/wire/failures.ts'
import { decodeBase64 } from '../../base64.ts'

export { type Purpose, sealToken } from '../../../crypto/sign.ts'

const shortestChallenge = 16
const longestChallenge = 64
const keyLength = 32

/** A valid signature over a challenge that the client chose. Throws `bad-signature` for any other. */
export function readChallengeClaim(claim: { publicKey: string; challenge: string; signature: string }) {
  const publicKey = decodeBase64(claim.publicKey)
  const message = decodeBase64(claim.challenge)
  const signature = decodeBase64(claim.signature)
  if (!publicKey || !message || !signature) throw failure('bad-signature')
  if (message.length < shortestChallenge || message.length > longestChallenge) throw failure('bad-signature')
  if (!verifySignature({ publicKey, message, signature })) throw failure('bad-signature')
  return { publicKey: Buffer.from(publicKey), challenge: message }
}

/** What a client of ours signed, and with which key. */
export interface ServerClaim {
  publicKey: string
  deviceKey: string
  origin: string
  nonce: string
  signature: string
}

/**
 * A valid signature over a nonce, whose age and first use the caller checks. Throws `bad-signature` for any
 * other.
 */
export function readServerClaim(claim: ServerClaim, serverKeyId: Uint8Array, purpose: Purpose) {
  const publicKey = keyOf(claim.publicKey)
  const deviceKey = keyOf(claim.deviceKey)
  const nonce = keyOf(claim.nonce)
  const signature = decodeBase64(claim.signature)
  if (!signature) throw failure('bad-signature')
  const said = { serverKeyId, origin: claim.origin, nonce, deviceKey, purpose }
  if (!verifyForServer({ publicKey, signature, said })) throw failure('bad-signature')
  return { publicKey, deviceKey: deviceKey.toString('base64'), nonceHash: hash('sha256', nonce, 'base64url'), nonce }
}

/**
 * The answer to a pairing request, in its canonical encoding, once the account's signature is verified.
 * Throws `bad-signature` otherwise.
 */
export function readApproval(given: {
  id: string
  publicKey: string
  deviceKey: string
  response: string
  origin: string
  signature: string
  /** Hex. */
  accountKey: string
}): string {
  const { id, origin } = given
  const response = decodeBase64(given.response)
  const signature = decodeBase64(given.signature)
  if (!response || !signature) throw failure('bad-signature')
  const asker = { publicKey: keyOf(given.publicKey), deviceKey: keyOf(given.deviceKey) }
  const approval = { id, asker, response, origin }
  if (!verifyApproval({ publicKey: Buffer.from(given.accountKey, 'hex'), signature, approval })) throw failure('bad-signature')
  return Buffer.from(response).toString('base64')
}

/** The public identity of a server whose secret has 32 bytes. */
export function identityKeyOf(secret: Uint8Array): Uint8Array {
  return signingKeypair(secret).publicKey
}

function keyOf(text: string): Buffer {
  const key = decodeBase64(text)
  if (key?.length !== keyLength) throw failure('bad-signature')
  return Buffer.from(key)
}
