import type { Clock } from '../async/clock.ts'
import { every, type Repeating } from '../async/every.ts'
import { type Bus, type BusEvent, type LimitUse, limitsTopic } from '../bus/bus.ts'
import { type CountedLimits, type LimitName, limits } from './limits.ts'

/** Less than a second, in which someone who reaches all instances may use the burst of each. */
const tellEveryMs = 200
/**
 * An instance may use this part of a limit untold, of its burst and of what grows again. Most callers use less, and cost nothing;
 * and up to as many instances use no more than once the limit unseen.
 */
const untoldPart = 1 / 16
/** In one event, which then fits into one notification of PostgreSQL; and every `tellEveryMs`. The rest follows with the next. */
const mostUsesAnEvent = 64
const mostUsesAtOnce = 1_024
/** Of each limit. What is used of more keys than this at a time stays untold. */
const mostUntoldKeys = 20_000

interface SharedLimitsDeps {
  bus: Bus
  clock: Clock
  /** The store's time. */
  time: () => number
  onError: (error: unknown) => void
}

/**
 * Makes rate limits hold for all instances together: what is used here counts at the others a moment later, as if it had been
 * used there. Nobody is asked before a request is accepted, so none waits for another instance, and while the bus is away each
 * instance limits by itself.
 */
export async function shareLimits({ bus, clock, time, onError }: SharedLimitsDeps, counted: CountedLimits, instance: string) {
  const untold = new Untold(clock, counted)
  const leave = await bus.subscribe(limitsTopic, event => {
    if (event.type === 'limits-used' && event.instance !== instance) count(counted, event, time())
  })
  counted.onCharged((limit, key, ms) => untold.add(limit, key, ms))
  const telling = every(clock, tellEveryMs, tell, onError)

  function tell(): void {
    const uses = untold.take()
    for (let at = 0; at < uses.length; at += mostUsesAnEvent)
      bus.publish(limitsTopic, { type: 'limits-used', instance, at: time(), uses: uses.slice(at, at + mostUsesAnEvent) })
  }

  return {
    async close() {
      await telling.close()
      await leave()
    }
  } satisfies Repeating
}

/** An event may have waited for as long as the bus was away: what has grown again meanwhile does not count. */
function count(counted: CountedLimits, { at, uses }: Extract<BusEvent, { type: 'limits-used' }>, now: number): void {
  const agoMs = Math.max(now - at, 0)
  for (const { limit, key, ms } of uses) if (isLimit(limit)) counted.chargeElsewhere(limit, key, ms, agoMs)
}

/** What was used here and the others do not know. Only who uses little for long enough is forgotten before it is told. */
class Untold {
  readonly #clock: Clock
  readonly #counted: CountedLimits
  readonly #uses = new Map<LimitName, Map<string, { ms: number; until: number }>>()

  constructor(clock: Clock, counted: CountedLimits) {
    this.#clock = clock
    this.#counted = counted
  }

  add(limit: LimitName, key: string, ms: number): void {
    const now = this.#clock.now()
    const uses = this.#uses.get(limit) ?? new Map<string, { ms: number; until: number }>()
    if (uses.size === 0) this.#uses.set(limit, uses)
    const use = uses.get(key)
    if (use) {
      use.ms += ms
      use.until = Math.max(use.until, now) + ms / untoldPart
    } else if (uses.size < mostUntoldKeys) uses.set(key, { ms, until: now + ms / untoldPart })
  }

  /** Removes and returns what should be told now. */
  take(): LimitUse[] {
    const taken: LimitUse[] = []
    const now = this.#clock.now()
    for (const [limit, uses] of this.#uses) {
      const { burst, perSecond } = limits[limit]
      const fromMs = (burst / perSecond) * 1000 * untoldPart
      for (const [key, { ms, until }] of uses) {
        if (taken.length === mostUsesAtOnce) return taken
        const isTold = Math.max(ms, this.#counted.owedMs(limit, key)) >= fromMs
        if (isTold) taken.push({ limit, key, ms: Math.ceil(ms) })
        if (isTold || until <= now) uses.delete(key)
      }
    }
    return taken
  }
}

function isLimit(name: string): name is LimitName {
  return Object.hasOwn(limits, name)
}
