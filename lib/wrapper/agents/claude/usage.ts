import { isDoneWithin } from '../../../async/deadline.ts'
import type { UsageWindow } from '../../../protocol/sealed/session.ts'
import * as v from '../../../schema.ts'
import type { AgentEvent } from '../agent.ts'

/** The context usage of the model. */
export interface Usage {
  /** The last request to this model had this many tokens. */
  take(used: number, model: string): void
  /** Resolves when it is sent, or cannot be soon. */
  settled(): Promise<void>
}

const settledWithinMs = 3_000

/** Claude Code records how much is in it; its size has to be queried, once for each model. */
export function createUsage(emit: (event: AgentEvent) => void, windowOf: (model: string) => Promise<number | undefined>): Usage {
  const windows = new Map<string, number>()
  let telling: Promise<void> = Promise.resolve()
  let newest: { used: number; model: string } | undefined

  const tell = (size: number) => {
    if (newest) emit({ type: 'usage', used: newest.used, size })
  }
  return {
    take(used, model) {
      newest = { used, model }
      const size = windows.get(model)
      if (size !== undefined) return tell(size)
      telling = windowOf(model).then(size => {
        if (size === undefined) return
        windows.set(model, size)
        if (newest?.model === model) tell(size)
      })
    },
    settled: async () => void (await isDoneWithin(settledWithinMs, telling))
  }
}

const share = v.object({
  utilization: v.fallback(v.optional(v.number()), undefined),
  resetsAt: v.fallback(v.optional(v.number()), undefined)
})

/**
 * As passed on by its adapter; `unifiedWindows` is not in its types, but present. Shares are of 1, times in
 * seconds since 1970.
 */
const rateLimit = v.object({
  status: v.string(),
  rateLimitType: v.fallback(v.optional(v.string()), undefined),
  isUsingOverage: v.fallback(v.optional(v.boolean()), undefined),
  unifiedWindows: v.fallback(v.optional(v.record(v.string(), share)), undefined),
  ...share.entries
})

/** The limit windows of a Claude account, from its last response; none if nothing is known. */
export function claudeWindows(report: unknown): UsageWindow[] {
  const { data } = v.safeParse(rateLimit, report)
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

function known({ utilization, resetsAt }: v.InferOutput<typeof share>): v.InferOutput<typeof share> {
  return { ...(utilization !== undefined && { utilization }), ...(resetsAt !== undefined && { resetsAt }) }
}

const week = 7 * 24 * 60
const kinds: ReadonlyMap<string, Pick<UsageWindow, 'minutes' | 'of'>> = new Map([
  ['five_hour', { minutes: 300 }],
  ['seven_day', { minutes: week }],
  ['seven_day_opus', { minutes: week, of: 'Opus' }],
  ['seven_day_sonnet', { minutes: week, of: 'Sonnet' }]
])
