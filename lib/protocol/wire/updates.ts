import * as z from 'zod'
import { accountId, artifactId, deviceId, machineId, sealed, seq, sessionId, time, version } from './ids.ts'
import { artifactRecord, kvChange, machineRecord, messageRecord, sessionRecord } from './records.ts'

const sealedCell = z.object({ value: sealed, version })
const openCell = z.object({ value: sealed.nullable(), version })

/** What changed for good. An unknown kind is dropped by every client, so new ones can be added. */
export const updateBody = z.discriminatedUnion('t', [
  z.object({ t: z.literal('new-session'), ...sessionRecord.shape }),
  z.object({ t: z.literal('update-session'), id: sessionId, metadata: sealedCell.optional(), agentState: openCell.optional() }),
  /** `by` is ours: the device that removed it; absent when its time was over, or a program did it. */
  z.object({ t: z.literal('delete-session'), sid: sessionId, by: deviceId.optional().catch(undefined) }),
  z.object({ t: z.literal('session-receipts'), sid: sessionId, deliveredSeq: seq, readSeq: seq }),
  z.object({ t: z.literal('new-message'), sid: sessionId, message: messageRecord }),
  z.object({ t: z.literal('new-machine'), machineId, seq: z.int(), ...machineRecord.omit({ id: true }).shape }),
  z.object({ t: z.literal('update-machine'), machineId, metadata: sealedCell.optional(), daemonState: openCell.optional() }),
  z.object({ t: z.literal('delete-machine'), machineId }),
  z.object({ t: z.literal('update-account'), id: accountId, settings: openCell.optional() }),
  z.object({ t: z.literal('new-artifact'), artifactId, ...artifactRecord.omit({ id: true }).shape }),
  z.object({ t: z.literal('update-artifact'), artifactId, header: sealedCell.optional(), body: sealedCell.optional() }),
  z.object({ t: z.literal('delete-artifact'), artifactId }),
  z.object({ t: z.literal('kv-batch-update'), changes: z.array(kvChange) })
])

/** The frame of the `update` event. `seq` rises by one with each change of the account. */
export const update = z.object({ id: z.string(), seq: z.int(), body: updateBody, createdAt: time })

export type UpdateBody = z.infer<typeof updateBody>
export type Update = z.infer<typeof update>
