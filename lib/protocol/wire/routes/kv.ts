import * as v from '../../../schema.ts'
import { kvKey, sealed } from '../ids.ts'
import { kvConflict, kvRecord } from '../records.ts'
import { kib, route } from './route.ts'

const mutation = v.object({ key: kvKey, value: v.nullable(sealed), version: v.pipe(v.int(), v.minValue(-1)) })

/** Small values with keys chosen by clients. The server can read the keys. */
export const kvRoutes = {
  readKv: route({
    method: 'POST',
    path: '/v1/kv/bulk',
    auth: 'read',
    limit: 1024 * kib,
    body: v.object({ keys: v.pipe(v.array(kvKey), v.minLength(1), v.maxLength(100)) }),
    reply: v.object({ values: v.array(kvRecord) })
  }),
  mutateKv: route({
    method: 'POST',
    path: '/v1/kv',
    auth: 'write',
    limit: 16 * kib * kib,
    body: v.object({
      mutations: v.pipe(
        v.array(mutation),
        v.minLength(1),
        v.maxLength(100),
        v.check(all => new Set(all.map(({ key }) => key)).size === all.length, 'changes a key twice')
      )
    }),
    reply: v.object({ success: v.literal(true), results: v.array(v.pick(kvRecord, ['key', 'version'])) }),
    conflict: v.object({ success: v.literal(false), errors: v.array(kvConflict) })
  })
} as const
