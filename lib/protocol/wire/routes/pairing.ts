import * as z from 'zod'
import { accountId, deviceId, pairingId, plainText } from '../ids.ts'
import { kib, ok, route } from './route.ts'

const key = z.string().max(64)
/** Some hundred letters of JSON, sealed, in base64. */
const about = z.string().max(1000)
const pairingKind = z.enum(['terminal', 'device'])
const params = z.object({ id: pairingId })

/** Pairing in the way of our own clients: a request is known by its id, and fetched by whoever made it alone. */
export const pairingRoutes = {
  askPairing: route({
    method: 'POST',
    path: '/v2/pairings',
    auth: 'none',
    limit: 2 * kib,
    ours: true,
    body: z.object({
      kind: pairingKind,
      publicKey: key,
      deviceKey: key,
      pollHash: key,
      origin: z.string().max(300).optional(),
      deviceName: plainText(100).optional(),
      about: about.optional()
    }),
    reply: z.object({ id: pairingId, expiresInMs: z.int(), serverKeyId: z.string() })
  }),
  readPairing: route({
    method: 'GET',
    path: '/v2/pairings/:id',
    auth: 'manage',
    limit: 0,
    ours: true,
    params,
    reply: z.object({
      kind: pairingKind,
      name: z.string(),
      from: z.string(),
      publicKey: key,
      deviceKey: key,
      about: about.optional(),
      state: z.enum(['waiting', 'approved', 'delivered', 'over']),
      endsInMs: z.int().optional(),
      isYours: z.boolean().optional()
    })
  }),
  pollPairing: route({
    method: 'POST',
    path: '/v2/pairings/:id/poll',
    auth: 'none',
    limit: kib,
    ours: true,
    params,
    body: z.object({ pollSecret: key }),
    reply: z.discriminatedUnion('state', [
      z.object({ state: z.literal('waiting') }),
      z.object({
        state: z.literal('approved'),
        response: z.string(),
        sealedToken: z.string(),
        account: accountId,
        device: deviceId,
        expiresInMs: z.int()
      })
    ])
  }),
  approvePairing: route({
    method: 'POST',
    path: '/v2/pairings/:id/approval',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    params,
    body: z.object({ response: z.string().max(1024), signature: z.string().max(128), origin: z.string().max(300) }),
    reply: ok
  }),
  rejectPairing: route({
    method: 'POST',
    path: '/v2/pairings/:id/rejection',
    auth: 'manage',
    limit: kib,
    ours: true,
    params,
    reply: ok
  })
} as const
