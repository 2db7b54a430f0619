import * as v from '../../../schema.ts'
import { deviceId, plainText, time, tokenId } from '../ids.ts'
import { deviceRecord, tokenRecord } from '../records.ts'
import { scope } from '../scopes.ts'
import { kib, ok, route } from './route.ts'

/** The signed-in devices of an account, and the programs with their own tokens. */
export const deviceRoutes = {
  listDevices: route({
    method: 'GET',
    path: '/v1/devices',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: v.object({ devices: v.array(deviceRecord) })
  }),
  renameDevice: route({
    method: 'PUT',
    path: '/v1/devices/:id',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    params: v.object({ id: deviceId }),
    body: v.object({ name: plainText(100) }),
    reply: ok
  }),
  removeDevice: route({
    method: 'DELETE',
    path: '/v1/devices/:id',
    auth: 'any',
    limit: 0,
    ours: true,
    params: v.object({ id: deviceId }),
    reply: ok
  }),
  listTokens: route({
    method: 'GET',
    path: '/v1/tokens',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: v.object({ tokens: v.array(tokenRecord) })
  }),
  createToken: route({
    method: 'POST',
    path: '/v1/tokens',
    auth: 'manage',
    limit: 4 * kib,
    ours: true,
    body: v.object({
      name: plainText(100),
      scopes: v.pipe(v.array(scope), v.minLength(1), v.maxLength(10)),
      expiresAt: v.nullish(v.pipe(time, v.safeInteger()))
    }),
    reply: v.object({ id: tokenId, token: v.string() })
  }),
  revokeToken: route({
    method: 'DELETE',
    path: '/v1/tokens/:id',
    auth: 'any',
    limit: 0,
    ours: true,
    params: v.object({ id: tokenId }),
    reply: ok
  })
} as const
