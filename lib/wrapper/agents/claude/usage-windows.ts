import * as z from 'zod'
import type { UsageWindow } from '../../../protocol/sealed/session.ts'

const share = z.object({ utilization: z.number().optional().catch(undefined), resetsAt: z.number().optional().catch(undefined) })

/** As its adapter passes it on; `unifiedWindows` is not in its types, and there all the same. Shares are of 1, times in seconds since 1970. */
const rateLimit = z.object({
  status: z.string(),
  rateLimitType: z.string().optional().catch(undefined),
  isUsingOverage: z.boolean().optional().catch(undefined),
  unifiedWindows: z.record(z.string(), share).optional().catch(undefined),
  ...share.shape
})

/** The windows that an account of Claude has, from what came with its last answer; none when nothing of it is known. */
export function claudeWindows(told: unknown): UsageWindow[] {
  const { data } = rateLimit.safeParse(told)
  if (!data) return []
  const { rateLimitType, unifiedWindows = {} } = data
  const named =
    rateLimitType === undefined
      ? unifiedWindows
      : { ...unifiedWindows, [rateLimitType]: { ...unifiedWindows[rateLimitType], ...known(data) } }
  const isRefused = data.status === 'rejected' && data.isUsingOverage !== true
  return Object.entries(named).flatMap(([name, { utilization, resetsAt }]) => {
    const kind = kinds.get(name)
    if (!kind) return []
    return {
      ...kind,
      ...(utilization !== undefined && { usedPercent: Math.round(utilization * 100) }),
      ...(resetsAt !== undefined && { resetsAt: resetsAt * 1000 }),
      isReached: isRefused && name === rateLimitType
    }
  })
}

function known({ utilization, resetsAt }: z.infer<typeof share>): z.infer<typeof share> {
  return { ...(utilization !== undefined && { utilization }), ...(resetsAt !== undefined && { resetsAt }) }
}

const week = 7 * 24 * 60
const kinds: ReadonlyMap<string, Pick<UsageWindow, 'minutes' | 'of'>> = new Map([
  ['five_hour', { minutes: 300 }],
  ['seven_day', { minutes: week }],
  ['seven_day_opus', { minutes: week, of: 'Opus' }],
  ['seven_day_sonnet', { minutes: week, of: 'Sonnet' }]
])
