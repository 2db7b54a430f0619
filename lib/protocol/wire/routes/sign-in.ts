import * as z from 'zod'
import { accountId, deviceId, plainText } from '../ids.ts'
import { kib, ok, route } from './route.ts'

/** What a person calls the device, for the list of sign-ins. */
const deviceName = plainText(100)
/** Base64 text whose bytes are checked where they are used. */
const bytes = (most: number) => z.string().max(most)

/** What somebody new may need to show, and how the list of devices calls who signs in. */
const newcomer = {
  setupCode: z.string().max(64).optional(),
  /** The code of an invitation. */
  invite: z.string().max(64).optional(),
  deviceName: deviceName.optional()
}
/** What a client of our own signed; the origin is that under which it reached the server. */
const claim = { deviceKey: bytes(64), origin: z.string().max(300), nonce: bytes(64), signature: bytes(128) }

/** Signing in and pairing. */
export const signInRoutes = {
  signIn: route({
    method: 'POST',
    path: '/v1/auth',
    auth: 'none',
    limit: 2 * kib,
    body: z.object({
      publicKey: bytes(64),
      challenge: bytes(128),
      signature: bytes(128),
      ...newcomer
    }),
    reply: z.object({ success: z.literal(true), token: z.string() })
  }),
  issueNonce: route({
    method: 'GET',
    path: '/v2/auth/nonce',
    auth: 'none',
    limit: 0,
    ours: true,
    reply: z.object({ nonce: z.string(), expiresInMs: z.int(), serverKeyId: z.string() })
  }),
  freshSignIn: route({
    method: 'POST',
    path: '/v2/auth',
    auth: 'none',
    limit: 4 * kib,
    ours: true,
    body: z.discriminatedUnion('purpose', [
      z.object({ purpose: z.literal('sign-in'), publicKey: bytes(64), ...claim, ...newcomer }),
      z.object({ purpose: z.literal('renew'), account: accountId, ...claim })
    ]),
    reply: z.object({ token: z.string(), account: accountId, device: deviceId, expiresInMs: z.int() })
  }),
  removeOwnAccount: route({
    method: 'POST',
    path: '/v1/account/removal',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    body: z.object({ publicKey: bytes(64), ...claim }),
    reply: ok
  }),
  pollTerminalPairing: route({
    method: 'POST',
    path: '/v1/auth/request',
    auth: 'none',
    limit: 2 * kib,
    body: z.object({ publicKey: bytes(64), supportsV2: z.boolean().nullish(), deviceName: deviceName.optional() }),
    reply: pairingReply()
  }),
  readPairingStatus: route({
    method: 'GET',
    path: '/v1/auth/request/status',
    auth: 'none',
    limit: 0,
    query: z.object({ publicKey: z.string().max(200).default('') }),
    reply: z.object({ status: z.enum(['not_found', 'pending', 'authorized']), supportsV2: z.boolean() })
  }),
  answerTerminalPairing: route({
    method: 'POST',
    path: '/v1/auth/response',
    auth: 'manage',
    limit: 2 * kib,
    body: z.object({ publicKey: bytes(64), response: bytes(1024) }),
    reply: ok
  }),
  pollDevicePairing: route({
    method: 'POST',
    path: '/v1/auth/account/request',
    auth: 'none',
    limit: 2 * kib,
    body: z.object({ publicKey: bytes(64), deviceName: deviceName.optional() }),
    reply: pairingReply()
  }),
  answerDevicePairing: route({
    method: 'POST',
    path: '/v1/auth/account/response',
    auth: 'manage',
    limit: 2 * kib,
    body: z.object({ publicKey: bytes(64), response: bytes(1024) }),
    reply: ok
  })
} as const

function pairingReply() {
  return z.union([
    z.object({ state: z.literal('requested') }),
    z.object({ state: z.literal('authorized'), token: z.string(), response: z.string() })
  ])
}
