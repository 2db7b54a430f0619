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
    about:
      'Tells the apps of an event in a session, and notifies the phones unless somebody is looking at an app. `data` is not passed on. ' +
      'Ours: a turn that is `done` within `turnMs` of 30 s notifies nobody, unless it was `startedFrom` the phone; `noticeId` names the ' +
      'notice, so that a repeat is not told twice and `settled` can end it (without an id it ends all of the session); `preview` is ' +
      'sealed for the devices of the account; the kinds `failed`, `silent` and `settled`. A notice is kept until it is handed over, refused for good or expired.',
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
    about: 'The public key with which this server signs Web Push requests, for `PushManager.subscribe`: base64url.',
    reply: z.object({ key: z.string() })
  }),
  acknowledgePush: route({
    method: 'POST',
    path: '/v1/push-receipts',
    auth: 'write',
    limit: kib,
    ours: true,
    about: 'Says that a notice arrived, by the receipt it carried; counted once, and for the device that registered the channel only.',
    body: z.object({ receipt: id }),
    reply: ok
  }),
  readNotifications: route({
    method: 'GET',
    path: '/v1/notifications',
    auth: 'read',
    limit: 0,
    ours: true,
    about:
      'When this device is notified, and how well each channel of the account is reached. `settings` is null for callers that are no device. ' +
      'What a channel leads to is never told, only that it is there.',
    reply: z.object({ settings: notificationSettings.nullable(), channels: z.array(channel) })
  }),
  writeNotifications: route({
    method: 'PUT',
    path: '/v1/notifications',
    auth: 'write',
    limit: 64 * kib,
    ours: true,
    about: 'Replaces when this device, with the channels it registered, is notified.',
    body: z.object({ settings: notificationSettings }),
    reply: ok
  }),
  testNotification: route({
    method: 'POST',
    path: '/v1/notifications/test',
    auth: 'write',
    limit: kib,
    ours: true,
    about: 'Sends a test to one channel, or to all of the account, whatever the settings say; answers what came of the first try.',
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
    about: 'Forgets a channel by its id; succeeds also when it is not there.',
    params: z.object({ id }),
    reply: ok
  })
} as const
