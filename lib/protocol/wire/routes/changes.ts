import * as v from '../../../schema.ts'
import { rpcMethod } from '../events.ts'
import { artifactId, machineId, sealed, seq, sessionId, time, version } from '../ids.ts'
import { artifactHead, kvChange, machineRecord, sessionRecord } from '../records.ts'
import { digits, kib, route, wholeNumber } from './route.ts'

const clock = v.pipe(v.int(), v.minValue(0))
const clockInQuery = digits(15)

const removedRow = v.variant('of', [
  v.object({ of: v.literal('session'), id: sessionId }),
  v.object({ of: v.literal('machine'), id: machineId }),
  v.object({ of: v.literal('artifact'), id: artifactId })
])
const activeRow = <Id extends v.GenericSchema>(id: Id) => v.object({ id, activeAt: time })

/** The current rows. Apply `removed` before the rows of the same answer: an id may have been reused. */
const changedRows = v.object({
  complete: v.literal(true),
  epoch: v.string(),
  clock,
  began: clock,
  more: v.boolean(),
  sessions: v.array(sessionRecord),
  machines: v.array(machineRecord),
  settings: v.optional(v.object({ value: v.nullable(sealed), version })),
  artifacts: v.array(artifactHead),
  kv: v.array(kvChange),
  removed: v.array(removedRow),
  active: v.optional(v.object({ sessions: v.array(activeRow(sessionId)), machines: v.array(activeRow(machineId)) }))
})
const startOver = v.object({ complete: v.literal(false), epoch: v.string(), clock })

const receipts = v.object({ deliveredSeq: v.optional(seq), readSeq: v.optional(seq) })

/** Routes that keep clients in sync: missed changes, receipts, and calls without a socket. */
export const changeRoutes = {
  readChanges: route({
    method: 'GET',
    path: '/v1/changes',
    auth: 'read',
    limit: 0,
    ours: true,
    query: v.object({
      since: v.optional(clockInQuery, '0'),
      began: v.optional(clockInQuery),
      epoch: v.optional(v.text(64)),
      limit: v.optional(v.pipe(wholeNumber, v.minValue(1), v.maxValue(500)), '200')
    }),
    reply: v.variant('complete', [changedRows, startOver])
  }),
  markReceipts: route({
    method: 'POST',
    path: '/v1/sessions/:id/receipts',
    auth: 'write',
    limit: 4 * kib,
    ours: true,
    params: v.object({ id: sessionId }),
    body: receipts,
    reply: v.object({ deliveredSeq: seq, readSeq: seq })
  }),
  callMethod: route({
    method: 'POST',
    path: '/v1/calls',
    auth: 'call',
    limit: 40 * kib * kib,
    ours: true,
    body: v.object({ method: rpcMethod, params: sealed }),
    reply: v.object({ result: sealed })
  })
} as const

export type ChangesReply = v.InferOutput<(typeof changeRoutes)['readChanges']['reply']>
