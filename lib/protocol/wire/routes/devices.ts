import * as z from 'zod'
import { deviceId, plainText, time, tokenId } from '../ids.ts'
import { deviceRecord, tokenRecord } from '../records.ts'
import { scope } from '../scopes.ts'
import { kib, ok, route } from './route.ts'

/** Who is signed in to an account, and which programs have a token of their own. */
export const deviceRoutes = {
  listDevices: route({
    method: 'GET',
    path: '/v1/devices',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: z.object({ devices: z.array(deviceRecord) })
  }),
  renameDevice: route({
    method: 'PUT',
    path: '/v1/devices/:id',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    params: z.object({ id: deviceId }),
    body: z.object({ name: plainText(100) }),
    reply: ok
  }),
  removeDevice: route({
    method: 'DELETE',
    path: '/v1/devices/:id',
    auth: 'any',
    limit: 0,
    ours: true,
    params: z.object({ id: deviceId }),
    reply: ok
  }),
  listTokens: route({
    method: 'GET',
    path: '/v1/tokens',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: z.object({ tokens: z.array(tokenRecord) })
  }),
  createToken: route({
    method: 'POST',
    path: '/v1/tokens',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    body: z.object({ name: plainText(100), scopes: z.array(scope).min(1).max(10), expiresAt: time.int().nullish() }),
    reply: z.object({ id: tokenId, token: z.string() })
  }),
  revokeToken: route({
    method: 'DELETE',
    path: '/v1/tokens/:id',
    auth: 'any',
    limit: 0,
    ours: true,
    params: z.object({ id: tokenId }),
    reply: ok
  })
} as const
