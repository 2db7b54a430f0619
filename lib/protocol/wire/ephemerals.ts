import * as z from 'zod'
import { deviceId, machineId, sealed, sessionId, time } from './ids.ts'
import { noticeKind, pushKind, ringKind } from './notifications.ts'
import { amounts, tokenKind } from './records.ts'

/** What is true now and not kept: presence, and text that still grows. The frame of the `ephemeral` event. */
export const ephemeral = z.discriminatedUnion('type', [
  z.object({ type: z.literal('activity'), id: sessionId, active: z.boolean(), activeAt: time, thinking: z.boolean() }),
  z.object({ type: z.literal('machine-activity'), id: machineId, active: z.boolean(), activeAt: time }),
  z.object({ type: z.literal('usage'), id: sessionId, key: z.string(), timestamp: time, tokens: amounts, cost: amounts }),
  z.object({ type: z.literal('session-event'), sessionId, kind: pushKind, title: z.string(), body: z.string(), timestamp: time }),
  z.object({ type: z.literal('notice'), sessionId, noticeId: z.string(), kind: z.union([noticeKind, ringKind]), timestamp: time }),
  z.object({ type: z.literal('partial'), sid: sessionId, partial: sealed }),
  z.object({ type: z.literal('device-came'), id: deviceId, kind: tokenKind, name: z.string(), timestamp: time }),
  z.object({ type: z.literal('pairing-fetched-twice'), timestamp: time })
])

export type Ephemeral = z.infer<typeof ephemeral>
