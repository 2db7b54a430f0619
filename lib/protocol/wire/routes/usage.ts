import * as v from '../../../schema.ts'
import { sessionId } from '../ids.ts'
import { amounts } from '../records.ts'
import { kib, route } from './route.ts'

/** Seconds since 1970: the only place where the wire does not use milliseconds. */
const seconds = v.pipe(v.number(), v.minValue(0), v.maxValue(8.64e12))

/** Usage reported by agents; the reports are sent over sockets. */
export const usageRoutes = {
  queryUsage: route({
    method: 'POST',
    path: '/v1/usage/query',
    auth: 'read',
    limit: 4 * kib,
    body: v.object({
      sessionId: v.nullish(sessionId),
      startTime: v.nullish(seconds),
      endTime: v.nullish(seconds),
      groupBy: v.nullish(v.picklist(['hour', 'day']))
    }),
    reply: v.object({
      usage: v.array(v.object({ timestamp: v.int(), tokens: amounts, cost: amounts, reportCount: v.int() })),
      groupBy: v.picklist(['hour', 'day']),
      totalReports: v.int()
    })
  })
} as const
