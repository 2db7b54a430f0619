import * as z from 'zod'
import { sessionId } from '../ids.ts'
import { amounts } from '../records.ts'
import { kib, route } from './route.ts'

/** Seconds since 1970: the one place where the wire does not count milliseconds. */
const seconds = z.number().min(0).max(8.64e12)

/** What agents reported to have used; the reports come by socket. */
export const usageRoutes = {
  queryUsage: route({
    method: 'POST',
    path: '/v1/usage/query',
    auth: 'read',
    limit: 4 * kib,
    body: z.object({
      sessionId: sessionId.nullish(),
      startTime: seconds.nullish(),
      endTime: seconds.nullish(),
      groupBy: z.enum(['hour', 'day']).nullish()
    }),
    reply: z.object({
      usage: z.array(z.object({ timestamp: z.int(), tokens: amounts, cost: amounts, reportCount: z.int() })),
      groupBy: z.enum(['hour', 'day']),
      totalReports: z.int()
    })
  })
} as const
