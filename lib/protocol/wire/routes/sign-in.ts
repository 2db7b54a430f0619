import * as v from '../../../schema.ts'
import { accountId, deviceId, plainText } from '../ids.ts'
import { kib, ok, route } from './route.ts'

/** The display name of the device, for the list of sign-ins. */
const deviceName = plainText(100)
/** Base64 text whose bytes are checked where they are used. */
const bytes = (most: number) => v.text(most)

/** What a new user may need for sign-up, and the name of the device in the list. */
const newcomer = {
  setupCode: v.optional(v.text(64)),
  /** The code of an invitation. */
  invite: v.optional(v.text(64)),
  deviceName: v.optional(deviceName)
}
/** What a client of ours signed; the origin is the one at which it reached the server. */
const claim = { deviceKey: bytes(64), origin: v.text(300), nonce: bytes(64), signature: bytes(128) }

/** Signing in and pairing. */
export const signInRoutes = {
  signIn: route({
    method: 'POST',
    path: '/v1/auth',
    auth: 'none',
    limit: 2 * kib,
    body: v.object({
      publicKey: bytes(64),
      challenge: bytes(128),
      signature: bytes(128),
      ...newcomer
    }),
    reply: v.object({ success: v.literal(true), token: v.string() })
  }),
  issueNonce: route({
    method: 'GET',
    path: '/v2/auth/nonce',
    auth: 'none',
    limit: 0,
    ours: true,
    reply: v.object({ nonce: v.string(), expiresInMs: v.int(), serverKeyId: v.string() })
  }),
  freshSignIn: route({
    method: 'POST',
    path: '/v2/auth',
    auth: 'none',
    limit: 4 * kib,
    ours: true,
    body: v.variant('purpose', [
      v.object({ purpose: v.literal('sign-in'), publicKey: bytes(64), ...claim, ...newcomer }),
      v.object({ purpose: v.literal('renew'), account: accountId, ...claim })
    ]),
    reply: v.object({ token: v.string(), account: accountId, device: deviceId, expiresInMs: v.int() })
  }),
  removeOwnAccount: route({
    method: 'POST',
    path: '/v1/account/removal',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    body: v.object({ publicKey: bytes(64), ...claim }),
    reply: ok
  }),
  pollTerminalPairing: route({
    method: 'POST',
    path: '/v1/auth/request',
    auth: 'none',
    limit: 2 * kib,
    body: v.object({ publicKey: bytes(64), supportsV2: v.nullish(v.boolean()), deviceName: v.optional(deviceName) }),
    reply: pairingReply()
  }),
  readPairingStatus: route({
    method: 'GET',
    path: '/v1/auth/request/status',
    auth: 'none',
    limit: 0,
    query: v.object({ publicKey: v.optional(v.text(200), '') }),
    reply: v.object({ status: v.picklist(['not_found', 'pending', 'authorized']), supportsV2: v.boolean() })
  }),
  answerTerminalPairing: route({
    method: 'POST',
    path: '/v1/auth/response',
    auth: 'manage',
    limit: 2 * kib,
    body: v.object({ publicKey: bytes(64), response: bytes(1024) }),
    reply: ok
  }),
  pollDevicePairing: route({
    method: 'POST',
    path: '/v1/auth/account/request',
    auth: 'none',
    limit: 2 * kib,
    body: v.object({ publicKey: bytes(64), deviceName: v.optional(deviceName) }),
    reply: pairingReply()
  }),
  answerDevicePairing: route({
    method: 'POST',
    path: '/v1/auth/account/response',
    auth: 'manage',
    limit: 2 * kib,
    body: v.object({ publicKey: bytes(64), response: bytes(1024) }),
    reply: ok
  })
} as const

function pairingReply() {
  return v.union([
    v.object({ state: v.literal('requested') }),
    v.object({ state: v.literal('authorized'), token: v.string(), response: v.string() })
  ])
}
