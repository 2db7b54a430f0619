import type { UsageWindow } from '../../../protocol/sealed/session.ts'
import type { RateLimits } from './shapes.ts'

/** The windows of the account that Codex works with. It counts some models apart, and names those. */
export function codexWindows({ limitId, limitName, primary, secondary, rateLimitReachedType }: RateLimits): UsageWindow[] {
  const of = limitId == null || limitId === 'codex' ? undefined : (limitName ?? limitId)
  return [primary, secondary].flatMap(window => {
    if (!window?.windowDurationMins) return []
    const { windowDurationMins: minutes, usedPercent, resetsAt } = window
    return {
      minutes,
      ...(of !== undefined && { of }),
      usedPercent: Math.round(usedPercent),
      ...(resetsAt != null && { resetsAt: resetsAt * 1000 }),
      // It says that one is reached, and not which.
      isReached: usedPercent >= 100 && rateLimitReachedType != null
    }
  })
}
