import * as z from 'zod'
import { rpcMethod } from '../events.ts'
import { artifactId, machineId, sealed, seq, sessionId, time, version } from '../ids.ts'
import { artifactHead, kvChange, machineRecord, sessionRecord } from '../records.ts'
import { kib, route, wholeNumber } from './route.ts'

const clock = z.int().min(0)
const clockInQuery = z
  .string()
  .regex(/^\d{1,15}$/, 'a whole number')
  .transform(Number)

const removedRow = z.discriminatedUnion('of', [
  z.object({ of: z.literal('session'), id: sessionId }),
  z.object({ of: z.literal('machine'), id: machineId }),
  z.object({ of: z.literal('artifact'), id: artifactId })
])
const activeRow = <Id extends z.ZodType>(id: Id) => z.object({ id, activeAt: time })

/** Rows as they are now. What is in `removed` went before any row of the same answer: an id may have been used again. */
const changedRows = z.object({
  complete: z.literal(true),
  epoch: z.string(),
  clock,
  began: clock,
  more: z.boolean(),
  sessions: z.array(sessionRecord),
  machines: z.array(machineRecord),
  settings: z.object({ value: sealed.nullable(), version }).optional(),
  artifacts: z.array(artifactHead),
  kv: z.array(kvChange),
  removed: z.array(removedRow),
  active: z.object({ sessions: z.array(activeRow(sessionId)), machines: z.array(activeRow(machineId)) }).optional()
})
const startOver = z.object({ complete: z.literal(false), epoch: z.string(), clock })

const receipts = z.object({ deliveredSeq: seq.optional(), readSeq: seq.optional() })

/** What keeps clients whole: what they missed, how far messages came, and calls without a socket. */
export const changeRoutes = {
  readChanges: route({
    method: 'GET',
    path: '/v1/changes',
    auth: 'read',
    limit: 0,
    ours: true,
    query: z.object({
      since: clockInQuery.default(0),
      began: clockInQuery.optional(),
      epoch: z.string().max(64).optional(),
      limit: wholeNumber.pipe(z.number().min(1).max(500)).default(200)
    }),
    reply: z.discriminatedUnion('complete', [changedRows, startOver])
  }),
  markReceipts: route({
    method: 'POST',
    path: '/v1/sessions/:id/receipts',
    auth: 'write',
    limit: 4 * kib,
    ours: true,
    params: z.object({ id: sessionId }),
    body: receipts,
    reply: receipts.required()
  }),
  callMethod: route({
    method: 'POST',
    path: '/v1/calls',
    auth: 'call',
    limit: 40 * kib * kib,
    ours: true,
    body: z.object({ method: rpcMethod, params: sealed }),
    reply: z.object({ result: sealed })
  })
} as const

export type ChangesReply = z.infer<(typeof changeRoutes)['readChanges']['reply']>
