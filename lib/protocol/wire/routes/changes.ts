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
    about:
      'The rows that changed after a clock, which is the `seq` of an update, in its order; 0 for all. While there are `more`, ask with `since` the `clock` ' +
      'of the answer and the same `began` and `epoch`. `active`, at the end: everything that is active now. `complete` false: forget every row and begin at 0.',
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
    about: 'Says up to which message a session came to its machine, and to its agent. Each number only rises, to the last message at most.',
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
    about:
      'Calls a method that a connection of the account answers, as the event `rpc-call` does. 503: nobody answers for it now and nothing was done; ' +
      '502 and 504: whether it was done is unknown.',
    body: z.object({ method: rpcMethod, params: sealed }),
    reply: z.object({ result: sealed })
  })
} as const

export type ChangesReply = z.infer<(typeof changeRoutes)['readChanges']['reply']>
