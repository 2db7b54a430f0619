import * as v from '../../../schema.ts'
import { kvKey } from '../ids.ts'
import { kvRecord } from '../records.ts'
import { route, wholeNumber } from './route.ts'

/** Reading keys as other clients do. */
export const kvListRoutes = {
  readKvKey: route({
    method: 'GET',
    path: '/v1/kv/:key',
    auth: 'read',
    limit: 0,
    params: v.object({ key: kvKey }),
    reply: kvRecord
  }),
  listKv: route({
    method: 'GET',
    path: '/v1/kv',
    auth: 'read',
    limit: 0,
    query: v.object({
      prefix: v.optional(v.text(1024), ''),
      limit: v.optional(v.pipe(wholeNumber, v.minValue(1), v.maxValue(1000)), '100')
    }),
    reply: v.object({ items: v.array(kvRecord) })
  })
} as const
