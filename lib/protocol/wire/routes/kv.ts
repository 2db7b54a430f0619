import * as z from 'zod'
import { kvKey, sealed } from '../ids.ts'
import { kvConflict, kvRecord } from '../records.ts'
import { kib, route } from './route.ts'

const mutation = z.object({ key: kvKey, value: sealed.nullable(), version: z.int().min(-1) })

/** Small values under keys that clients choose. The server can read the keys. */
export const kvRoutes = {
  readKv: route({
    method: 'POST',
    path: '/v1/kv/bulk',
    auth: 'read',
    limit: 1024 * kib,
    body: z.object({ keys: z.array(kvKey).min(1).max(100) }),
    reply: z.object({ values: z.array(kvRecord) })
  }),
  mutateKv: route({
    method: 'POST',
    path: '/v1/kv',
    auth: 'write',
    limit: 16 * kib * kib,
    body: z.object({
      mutations: z
        .array(mutation)
        .min(1)
        .max(100)
        .refine(all => new Set(all.map(({ key }) => key)).size === all.length, 'a key is changed twice')
    }),
    reply: z.object({ success: z.literal(true), results: z.array(kvRecord.pick({ key: true, version: true })) }),
    conflict: z.object({ success: z.literal(false), errors: z.array(kvConflict) })
  })
} as const
