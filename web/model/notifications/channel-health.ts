import type { Channel } from './notifications.ts'

/** One notification that should have come: after how long it did, or that it did not. `delayMs` is null where nobody tells. */
export type TrackedNotification = { at: number; has: 'arrived'; delayMs: number | null } | { at: number; has: 'missed' }

/** What is known of one channel, for a person. */
export interface ChannelHealth {
  /** `missing`: the last two did not come. `untried`: nothing was sent yet that counts. */
  readonly state: 'reaching' | 'missing' | 'untried'
  /** The oldest first. */
  readonly arrivals: readonly TrackedNotification[]
  readonly last: TrackedNotification | undefined
  readonly cause: MissCause | undefined
}

/**
 * Why notifications do not come, as far as that can be told. `held-back`: handed over, and not shown; `not-allowed`: the server may not
 * reach that address; `wants-token`: it is protected; `no-answer`: nobody answers there; `gone`: there is no such address any more.
 */
export type MissCause = 'held-back' | 'not-allowed' | 'wants-token' | 'no-answer' | 'gone' | 'refused'

type Sent = Channel['health']['last'][number]

/** What was handed over so short ago may still come. */
const comesWithinMs = 60_000
const missesThatCount = 2

export function healthOf({ acknowledges, health }: Pick<Channel, 'acknowledges' | 'health'>, now: number): ChannelHealth {
  const counted = health.last.flatMap(sent => {
    const arrival = arrivalOf(sent, acknowledges, now)
    return arrival ? [{ sent, arrival }] : []
  })
  const newest = counted.slice(0, missesThatCount)
  const isMissing = newest.length === missesThatCount && newest.every(({ arrival }) => arrival.has === 'missed')
  const [last] = counted
  return {
    state: last === undefined ? 'untried' : isMissing ? 'missing' : 'reaching',
    arrivals: counted.map(({ arrival }) => arrival).reverse(),
    last: last?.arrival,
    cause: isMissing && last ? causeOf(last.sent) : undefined
  }
}

/** Undefined for what does not count: somebody looked or had answered, or it is still on its way. */
function arrivalOf({ at, outcome, arrivedAfterMs }: Sent, acknowledges: boolean, now: number): TrackedNotification | undefined {
  if (arrivedAfterMs !== null) return { at, has: 'arrived', delayMs: arrivedAfterMs }
  switch (outcome) {
    case 'accepted':
      if (!acknowledges) return { at, has: 'arrived', delayMs: null }
      return now - at > comesWithinMs ? { at, has: 'missed' } : undefined
    case 'gone':
    case 'refused':
    case 'unknown':
    case 'expired':
      return { at, has: 'missed' }
    case 'arrived':
      return { at, has: 'arrived', delayMs: null }
    case 'waiting':
    case 'settled':
    case 'watched':
    case 'collected':
      return undefined
  }
}

/** The same for what came of a single test. */
export function causeOf({ outcome, reason }: Pick<Sent, 'outcome' | 'reason'>): MissCause {
  if (outcome === 'gone' || outcome === 'unknown') return 'gone'
  if (outcome === 'expired' || outcome === 'waiting') return 'no-answer'
  if (outcome !== 'refused') return 'held-back'
  if (reason === 'address not allowed') return 'not-allowed'
  return reason === 'HTTP 401' || reason === 'HTTP 403' ? 'wants-token' : 'refused'
}
