import type { Clock } from '../../async/clock.ts'
import { every, type Repeating } from '../../async/every.ts'
import type { Deps } from '../deps.ts'
import { announce } from '../publish.ts'
import type { Logger } from '../watch/log.ts'
import type { Claim } from './claim.ts'
import type { LeftoverSweep } from './leftover-sweep.ts'
import type { Presence } from './presence.ts'

const everyMs = 60 * 60 * 1000
const dayMs = 24 * 60 * 60 * 1000
/** Removed at a time, with others in between. */
const atOnce = 10

interface RetentionDeps extends Pick<Deps, 'store' | 'bus' | 'now' | 'time'> {
  clock: Clock
  claim: Claim
  presence: Pick<Presence, 'forget'>
  leftoverSweep: Pick<LeftoverSweep, 'soon'>
  log: Pick<Logger, 'info'>
  /** Whether the clock is reliable enough to remove old data permanently. */
  mayRemove: () => boolean
  onError: (error: unknown) => void
}

/** Hourly removes sessions that ended and were not touched for this many days, as their owner would. */
export class Retention {
  readonly #deps: RetentionDeps
  readonly #keepMs: number
  readonly #sweeps: Repeating
  #isClosed = false

  constructor(deps: RetentionDeps, { keepSessionsDays }: { keepSessionsDays: number }) {
    this.#deps = deps
    this.#keepMs = keepSessionsDays * dayMs
    this.#sweeps = every(deps.clock, everyMs, () => this.#sweep(), deps.onError)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sweeps.close()
  }

  async #sweep(): Promise<void> {
    const { store, time, claim, log, mayRemove, presence, leftoverSweep } = this.#deps
    let count = 0
    for (let removed = atOnce; removed === atOnce && !this.#isClosed && mayRemove(); ) {
      if (!(await claim('remove-old-sessions'))) break
      const gone = await store.removeOldSessions(time() - this.#keepMs, atOnce)
      for (const { account, session, clock } of gone) {
        const row = { of: 'session', id: session } as const
        presence.forget(account, row)
        announce(this.#deps, { account, skip: undefined }, clock, { type: 'row-removed', row })
      }
      if (gone.length > 0) leftoverSweep.soon()
      removed = gone.length
      count += gone.length
    }
    if (count > 0) log.info({ count }, 'Removed sessions that were not used for a long time')
  }
}
