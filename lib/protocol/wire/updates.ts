import * as v from '../../schema.ts'
import { accountId, artifactId, deviceId, machineId, sealed, seq, sessionId, time, version } from './ids.ts'
import { artifactRecord, kvChange, machineRecord, messageRecord, sessionRecord } from './records.ts'

const sealedCell = v.object({ value: sealed, version })
const openCell = v.object({ value: v.nullable(sealed), version })

/** A permanent change. Clients drop unknown kinds, so new ones can be added. */
export const updateBody = v.variant('t', [
  v.object({ t: v.literal('new-session'), ...sessionRecord.entries }),
  v.object({ t: v.literal('update-session'), id: sessionId, metadata: v.optional(sealedCell), agentState: v.optional(openCell) }),
  /** `by` is ours: the device that removed it; absent if it expired, or a program removed it. */
  v.object({ t: v.literal('delete-session'), sid: sessionId, by: v.fallback(v.optional(deviceId), undefined) }),
  v.object({ t: v.literal('session-receipts'), sid: sessionId, deliveredSeq: seq, readSeq: seq }),
  v.object({ t: v.literal('new-message'), sid: sessionId, message: messageRecord }),
  v.object({ t: v.literal('new-machine'), machineId, seq: v.int(), ...v.omit(machineRecord, ['id']).entries }),
  v.object({ t: v.literal('update-machine'), machineId, metadata: v.optional(sealedCell), daemonState: v.optional(openCell) }),
  v.object({ t: v.literal('delete-machine'), machineId }),
  v.object({ t: v.literal('update-account'), id: accountId, settings: v.optional(openCell) }),
  v.object({ t: v.literal('new-artifact'), artifactId, ...v.omit(artifactRecord, ['id']).entries }),
  v.object({ t: v.literal('update-artifact'), artifactId, header: v.optional(sealedCell), body: v.optional(sealedCell) }),
  v.object({ t: v.literal('delete-artifact'), artifactId }),
  v.object({ t: v.literal('kv-batch-update'), changes: v.array(kvChange) })
])

/** The frame of the `update` event. `seq` rises by one with each change of the account. */
export const update = v.object({ id: v.string(), seq: v.int(), body: updateBody, createdAt: time })

export type UpdateBody = v.InferOutput<typeof updateBody>
export type Update = v.InferOutput<typeof update>
