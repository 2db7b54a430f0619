import * as v from '../../../schema.ts'
import { plainText, sealedUpTo, sessionId, time } from '../ids.ts'
import { channelKind, deliveryOutcome, noticeKind, notificationSettings, ringKind } from '../notifications.ts'
import { kib, ok, route } from './route.ts'

const id = plainText(64)
const milliseconds = v.number()

/** The delivery statistics of a channel over the last 30 days. */
const channelHealth = v.object({
  /** In the last seven days: accepted by the provider, and known to have arrived. Only acknowledged ones count as arrived. */
  sent: v.int(),
  arrived: v.int(),
  /** From acceptance to arrival, of those that arrived in seven days. */
  typicalMs: v.nullable(milliseconds),
  slowestMs: v.nullable(milliseconds),
  /** Newest first. */
  last: v.array(
    v.object({
      at: time,
      kind: ringKind,
      outcome: deliveryOutcome,
      reason: v.nullable(v.string()),
      arrivedAfterMs: v.nullable(milliseconds)
    })
  )
})

const channel = v.object({
  id,
  kind: channelKind,
  /** Whether the calling device registered it. */
  isOwn: v.boolean(),
  /** The name of the device that registered it. */
  device: v.nullable(v.string()),
  createdAt: time,
  updatedAt: time,
  /** Whether arrivals are acknowledged; for other kinds only acceptance is known. */
  acknowledges: v.boolean(),
  health: channelHealth
})

/** Notifications: requests of wrappers, channels, settings and outcomes. */
export const pushRoutes = {
  notify: route({
    method: 'POST',
    path: '/v1/sessions/:id/push-event',
    auth: 'write',
    limit: 64 * kib,
    params: v.object({ id: sessionId }),
    body: v.object({
      kind: noticeKind,
      title: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
      body: v.pipe(v.string(), v.minLength(1), v.maxLength(500)),
      turnMs: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(8.64e15))),
      startedFrom: v.optional(v.picklist(['phone', 'terminal'])),
      noticeId: v.optional(id),
      preview: v.optional(sealedUpTo(2560)),
      data: v.nullish(v.record(v.string(), v.unknown()))
    }),
    reply: v.object({
      success: v.literal(true),
      result: v.picklist(['sent', 'partial', 'suppressed', 'no_tokens', 'failed']),
      tokens: v.optional(v.int()),
      delivered: v.optional(v.int()),
      reason: v.optional(v.picklist(['active-ui-client', 'short-turn', 'gone', 'unknown', 'refused', 'unreachable', 'late']))
    })
  }),
  readPushKey: route({
    method: 'GET',
    path: '/v1/push-key',
    auth: 'read',
    limit: 0,
    ours: true,
    reply: v.object({ key: v.string() })
  }),
  acknowledgePush: route({
    method: 'POST',
    path: '/v1/push-receipts',
    auth: 'write',
    limit: kib,
    ours: true,
    body: v.object({ receipt: id }),
    reply: ok
  }),
  readNotifications: route({
    method: 'GET',
    path: '/v1/notifications',
    auth: 'read',
    limit: 0,
    ours: true,
    reply: v.object({ settings: v.nullable(notificationSettings), channels: v.array(channel) })
  }),
  writeNotifications: route({
    method: 'PUT',
    path: '/v1/notifications',
    auth: 'write',
    limit: 64 * kib,
    ours: true,
    body: v.object({ settings: notificationSettings }),
    reply: ok
  }),
  testNotification: route({
    method: 'POST',
    path: '/v1/notifications/test',
    auth: 'write',
    limit: kib,
    ours: true,
    body: v.object({ channel: v.optional(id) }),
    reply: v.object({
      channels: v.array(v.object({ id, outcome: deliveryOutcome, reason: v.nullable(v.string()) }))
    })
  }),
  removeChannel: route({
    method: 'DELETE',
    path: '/v1/notifications/channels/:id',
    auth: 'write',
    limit: 0,
    ours: true,
    params: v.object({ id }),
    reply: ok
  })
} as const
