import * as v from '../../schema.ts'
import { deviceId, machineId, sealed, sessionId, time } from './ids.ts'
import { noticeKind, pushKind, ringKind } from './notifications.ts'
import { amounts, tokenKind } from './records.ts'

/** Current state that is not stored: presence, and growing text. The frame of the `ephemeral` event. */
export const ephemeral = v.variant('type', [
  v.object({ type: v.literal('activity'), id: sessionId, active: v.boolean(), activeAt: time, thinking: v.boolean() }),
  v.object({ type: v.literal('machine-activity'), id: machineId, active: v.boolean(), activeAt: time }),
  v.object({ type: v.literal('usage'), id: sessionId, key: v.string(), timestamp: time, tokens: amounts, cost: amounts }),
  v.object({ type: v.literal('session-event'), sessionId, kind: pushKind, title: v.string(), body: v.string(), timestamp: time }),
  v.object({ type: v.literal('notice'), sessionId, noticeId: v.string(), kind: v.union([noticeKind, ringKind]), timestamp: time }),
  v.object({ type: v.literal('partial'), sid: sessionId, partial: sealed }),
  v.object({ type: v.literal('device-came'), id: deviceId, kind: tokenKind, name: v.string(), timestamp: time }),
  v.object({ type: v.literal('pairing-fetched-twice'), timestamp: time })
])

export type Ephemeral = v.InferOutput<typeof ephemeral>
