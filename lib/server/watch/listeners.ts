import type { Listeners } from './events.ts'
import type { Metrics } from './metrics.ts'

/** Listeners whose errors are caught; undefined without listeners, so that no event is built for nothing. */
export function listenersOf(
  { onAudit, onEvent }: { [Name in keyof Listeners]: Listeners[Name] | undefined },
  onError: (error: unknown) => void
): Listeners | undefined {
  if (!onAudit && !onEvent) return undefined
  return { onAudit: harmless(onAudit, onError), onEvent: harmless(onEvent, onError) }
}

/** The same counters, which also report rejected clients. */
export function watchRefusals(metrics: Metrics, listeners: Listeners | undefined, now: () => number): Metrics {
  if (!listeners) return metrics
  return {
    ...metrics,
    requestAnswered(route, status, ms) {
      metrics.requestAnswered(route, status, ms)
      if (status === 401 || status === 403 || status === 429) listeners.onAudit({ type: 'request-refused', route, status, at: now() })
    }
  }
}

function harmless<Event>(listener: ((event: Event) => void) | undefined, onError: (error: unknown) => void): (event: Event) => void {
  return event => {
    try {
      listener?.(event)
    } catch (error) {
      onError(error)
    }
  }
}
