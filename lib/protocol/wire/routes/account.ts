import * as z from 'zod'
import { plainText, sealed, sessionId, version } from '../ids.ts'
import { accountProfile, pushTokenRecord } from '../records.ts'
import { kib, ok, route } from './route.ts'

/** Null: without an end. */
const most = z.int().nullable()
const legacyLogin = z.enum(['on', 'once', 'off'])

/** The account itself: profile, settings, push tokens. */
export const accountRoutes = {
  readProfile: route({
    method: 'GET',
    path: '/v1/account/profile',
    auth: 'read',
    limit: 0,
    reply: accountProfile
  }),
  readSettings: route({
    method: 'GET',
    path: '/v1/account/settings',
    auth: 'read',
    limit: 0,
    reply: z.object({ settings: sealed.nullable(), settingsVersion: version })
  }),
  writeSettings: route({
    method: 'POST',
    path: '/v1/account/settings',
    auth: 'manage',
    limit: 40 * kib * kib,
    body: z.object({ settings: sealed.nullable(), expectedVersion: version }),
    reply: z.union([
      z.object({ success: z.literal(true), version }),
      z.object({
        success: z.literal(false),
        error: z.literal('version-mismatch'),
        currentVersion: version,
        currentSettings: sealed.nullable()
      })
    ])
  }),
  readLegacyLogin: route({
    method: 'GET',
    path: '/v1/account/legacy-login',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: z.object({ legacyLogin })
  }),
  setLegacyLogin: route({
    method: 'PUT',
    path: '/v1/account/legacy-login',
    auth: 'manage',
    limit: kib,
    ours: true,
    body: z.object({ legacyLogin }),
    reply: ok
  }),
  readStorage: route({
    method: 'GET',
    path: '/v1/account/storage',
    auth: 'read',
    limit: 0,
    ours: true,
    reply: z.object({
      sessions: z.int(),
      messages: z.int(),
      bytes: z.object({ messages: z.int(), attachments: z.int(), artifacts: z.int(), state: z.int() }),
      quotas: z.object({ sessions: most, messages: most, bytes: most }),
      keepSessionsDays: most
    })
  }),
  readSessionSizes: route({
    method: 'GET',
    path: '/v1/account/storage/sessions',
    auth: 'read',
    limit: 0,
    ours: true,
    reply: z.object({ sessions: z.array(z.object({ id: sessionId, bytes: z.int() })) })
  }),
  addPushToken: route({
    method: 'POST',
    path: '/v1/push-tokens',
    auth: 'write',
    limit: 8 * kib,
    body: z.object({ token: plainText(4096) }),
    reply: ok
  }),
  listPushTokens: route({
    method: 'GET',
    path: '/v1/push-tokens',
    auth: 'read',
    limit: 0,
    reply: z.object({ tokens: z.array(pushTokenRecord) })
  }),
  removePushToken: route({
    method: 'DELETE',
    path: '/v1/push-tokens/:token',
    auth: 'write',
    limit: 0,
    params: z.object({ token: z.string().min(1).max(4096) }),
    reply: ok
  })
} as const
