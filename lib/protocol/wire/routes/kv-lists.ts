import * as z from 'zod'
import { kvKey } from '../ids.ts'
import { kvRecord } from '../records.ts'
import { route, wholeNumber } from './route.ts'

/** Reading keys in the ways that other clients do. */
export const kvListRoutes = {
  readKvKey: route({
    method: 'GET',
    path: '/v1/kv/:key',
    auth: 'read',
    limit: 0,
    params: z.object({ key: kvKey }),
    reply: kvRecord
  }),
  listKv: route({
    method: 'GET',
    path: '/v1/kv',
    auth: 'read',
    limit: 0,
    query: z.object({ prefix: z.string().max(1024).default(''), limit: wholeNumber.pipe(z.number().min(1).max(1000)).default(100) }),
    reply: z.object({ items: z.array(kvRecord) })
  })
} as const
