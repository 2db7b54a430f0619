import * as v from '../../../schema.ts'
import { accountId, deviceId, pairingId, plainText } from '../ids.ts'
import { kib, ok, route } from './route.ts'

const key = v.text(64)
/** Some hundred letters of JSON, sealed, in base64. */
const about = v.text(1000)
const pairingKind = v.picklist(['terminal', 'device'])
const params = v.object({ id: pairingId })

/** Pairing of our own clients: a request is identified by its id, and only the requester can fetch its answer. */
export const pairingRoutes = {
  askPairing: route({
    method: 'POST',
    path: '/v2/pairings',
    auth: 'none',
    limit: 2 * kib,
    ours: true,
    body: v.object({
      kind: pairingKind,
      publicKey: key,
      deviceKey: key,
      pollHash: key,
      origin: v.optional(v.text(300)),
      deviceName: v.optional(plainText(100)),
      about: v.optional(about)
    }),
    reply: v.object({ id: pairingId, expiresInMs: v.int(), serverKeyId: v.string() })
  }),
  readPairing: route({
    method: 'GET',
    path: '/v2/pairings/:id',
    auth: 'manage',
    limit: 0,
    ours: true,
    params,
    reply: v.object({
      kind: pairingKind,
      name: v.string(),
      from: v.string(),
      publicKey: key,
      deviceKey: key,
      about: v.optional(about),
      state: v.picklist(['waiting', 'approved', 'delivered', 'over']),
      endsInMs: v.optional(v.int()),
      isYours: v.optional(v.boolean())
    })
  }),
  pollPairing: route({
    method: 'POST',
    path: '/v2/pairings/:id/poll',
    auth: 'none',
    limit: kib,
    ours: true,
    params,
    body: v.object({ pollSecret: key }),
    reply: v.variant('state', [
      v.object({ state: v.literal('waiting') }),
      v.object({
        state: v.literal('approved'),
        response: v.string(),
        sealedToken: v.string(),
        account: accountId,
        device: deviceId,
        expiresInMs: v.int()
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
    body: v.object({
      response: v.text(1024),
      signature: v.text(128),
      origin: v.text(300)
    }),
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
