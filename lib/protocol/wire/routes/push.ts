import * as z from 'zod'
import { sessionId } from '../ids.ts'
import { kib, route } from './route.ts'

/** What a notification may be about; `error` is ours. */
export const pushKind = z.enum(['done', 'permission', 'question', 'error'])
export type PushKind = z.infer<typeof pushKind>

/** Notifications that a wrapper asks for. */
export const pushRoutes = {
  notify: route({
    method: 'POST',
    path: '/v1/sessions/:id/push-event',
    auth: 'write',
    limit: 64 * kib,
    about:
      'Tells the apps of an event in a session, and notifies the phones unless somebody is looking at an app. `data` is not passed on. ' +
      'Ours: a turn that is `done` within `turnMs` of 30 s notifies nobody, unless it was `startedFrom` the phone.',
    params: z.object({ id: sessionId }),
    body: z.object({
      kind: pushKind,
      title: z.string().min(1).max(200),
      body: z.string().min(1).max(500),
      turnMs: z.number().min(0).max(8.64e15).optional(),
      startedFrom: z.enum(['phone', 'terminal']).optional(),
      data: z.record(z.string(), z.unknown()).nullish()
    }),
    reply: z.object({
      success: z.literal(true),
      result: z.enum(['sent', 'partial', 'suppressed', 'no_tokens', 'failed']),
      tokens: z.int().optional(),
      delivered: z.int().optional(),
      reason: z.enum(['active-ui-client', 'short-turn', 'gone', 'unknown', 'refused', 'unreachable', 'late']).optional()
    })
  })
} as const
