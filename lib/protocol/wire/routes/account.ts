import * as v from '../../../schema.ts'
import { plainText, sealed, sessionId, version } from '../ids.ts'
import { accountProfile, pushTokenRecord } from '../records.ts'
import { kib, ok, route } from './route.ts'

/** Null: no limit. */
const most = v.nullable(v.int())
const legacyLogin = v.picklist(['on', 'once', 'off'])

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
    reply: v.object({ settings: v.nullable(sealed), settingsVersion: version })
  }),
  writeSettings: route({
    method: 'POST',
    path: '/v1/account/settings',
    auth: 'manage',
    limit: 40 * kib * kib,
    body: v.object({ settings: v.nullable(sealed), expectedVersion: version }),
    reply: v.union([
      v.object({ success: v.literal(true), version }),
      v.object({
        success: v.literal(false),
        error: v.literal('version-mismatch'),
        currentVersion: version,
        currentSettings: v.nullable(sealed)
      })
    ])
  }),
  readLegacyLogin: route({
    method: 'GET',
    path: '/v1/account/legacy-login',
    auth: 'manage',
    limit: 0,
    ours: true,
    reply: v.object({ legacyLogin })
  }),
  setLegacyLogin: route({
    method: 'PUT',
    path: '/v1/account/legacy-login',
    auth: 'manage',
    limit: kib,
    ours: true,
    body: v.object({ legacyLogin }),
    reply: ok
  }),
  readStorage: route({
    method: 'GET',
    path: '/v1/account/storage',
    auth: 'read',
    limit: 0,
    ours: true,
    reply: v.object({
      sessions: v.int(),
      messages: v.int(),
      bytes: v.object({ messages: v.int(), attachments: v.int(), artifacts: v.int(), state: v.int() }),
      quotas: v.object({ sessions: most, messages: most, bytes: most }),
      keepSessionsDays: most
    })
  }),
  readSessionSizes: route({
    method: 'GET',
    path: '/v1/account/storage/sessions',
    auth: 'read',
    limit: 0,
    ours: true,
    reply: v.object({ sessions: v.array(v.object({ id: sessionId, bytes: v.int() })) })
  }),
  addPushToken: route({
    method: 'POST',
    path: '/v1/push-tokens',
    auth: 'write',
    limit: 8 * kib,
    body: v.object({ token: plainText(4096) }),
    reply: ok
  }),
  listPushTokens: route({
    method: 'GET',
    path: '/v1/push-tokens',
    auth: 'read',
    limit: 0,
    reply: v.object({ tokens: v.array(pushTokenRecord) })
  }),
  removePushToken: route({
    method: 'DELETE',
    path: '/v1/push-tokens/:token',
    auth: 'write',
    limit: 0,
    params: v.object({ token: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)) }),
    reply: ok
  })
} as const
