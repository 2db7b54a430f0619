import * as z from 'zod'
import { plainText, sealedUpTo, sessionId, time } from '../ids.ts'
import { channelKind, deliveryOutcome, noticeKind, notificationSettings, ringKind } from '../notifications.ts'
import { kib, ok, route } from './route.ts'

const id = plainText(64)
const milliseconds = z.number()

/** How well notices reach one channel, of the last 30 days. */
const channelHealth = z.object({
  /** In the last seven days: handed to the provider, and known to have arrived. Only what acknowledges is counted as arrived. */
  sent: z.int(),
  arrived: z.int(),
  /** From the hand-over to the arrival, of those that arrived in seven days. */
  typicalMs: milliseconds.nullable(),
  slowestMs: milliseconds.nullable(),
  /** The newest first. */
  last: z.array(
    z.object({ at: time, kind: ringKind, outcome: deliveryOutcome, reason: z.string().nullable(), arrivedAfterMs: milliseconds.nullable() })
  )
})

const channel = z.object({
  id,
  kind: channelKind,
  /** Whether the device that asks registered it. */
  isOwn: z.boolean(),
  /** The name of the device that registered it. */
  device: z.string().nullable(),
  createdAt: time,
  updatedAt: time,
  /** Whether arrivals are acknowledged; of other kinds only the hand-over is known. */
  acknowledges: z.boolean(),
  health: channelHealth
})

/** Notifications: what wrappers ask for, where they go, when, and what became of them. */
export const pushRoutes = {
  notify: route({
    method: 'POST',
    path: '/v1/sessions/:id/push-event',
    auth: 'write',
    limit: 64 * kib,
    params: z.object({ id: sessionId }),
    body: z.object({
      kind: noticeKind,
      title: z.string().min(1).max(200),
      body: z.string().min(1).max(500),
      turnMs: z.number().min(0).max(8.64e15).optional(),
      startedFrom: z.enum(['phone', 'terminal']).optional(),
      noticeId: id.optional(),
      preview: sealedUpTo(2560).optional(),
      data: z.record(z.string(), z.unknown()).nullish()
    }),
    reply: z.object({
      success: z.literal(true),
      result: z.enum(['sent', 'partial', 'suppressed', 'no_tokens', 'failed']),
      tokens: z.int().optional(),
      delivered: z.int().optional(),
      reason: z.enum(['active-ui-client', 'short-turn', 'gone', 'unknown', 'refused', 'unreachable', 'late']).optional()
    })
  }),
  readPushKey: route({
    method: 'GET',
    path: '/v1/push-key',
    auth: 'read',
    limit: 0,
    ours: true,
    reply: z.object({ key: z.string() })
  }),
  acknowledgePush: route({
    method: 'POST',
    path: '/v1/push-receipts',
    auth: 'write',
    limit: kib,
    ours: true,
    body: z.object({ receipt: id }),
    reply: ok
  }),
  readNotifications: route({
    method: 'GET',
    path: '/v1/notifications',
    auth: 'read',
    limit: 0,
    ours: true,
    reply: z.object({ settings: notificationSettings.nullable(), channels: z.array(channel) })
  }),
  writeNotifications: route({
    method: 'PUT',
    path: '/v1/notifications',
    auth: 'write',
    limit: 64 * kib,
    ours: true,
    body: z.object({ settings: notificationSettings }),
    reply: ok
  }),
  testNotification: route({
    method: 'POST',
    path: '/v1/notifications/test',
    auth: 'write',
    limit: kib,
    ours: true,
    body: z.object({ channel: id.optional() }),
    reply: z.object({
      channels: z.array(z.object({ id, outcome: deliveryOutcome, reason: z.string().nullable() }))
    })
  }),
  removeChannel: route({
    method: 'DELETE',
    path: '/v1/notifications/channels/:id',
    auth: 'write',
    limit: 0,
    ours: true,
    params: z.object({ id }),
    reply: ok
  })
} as const
