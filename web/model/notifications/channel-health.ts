import type { Channel } from './notifications.ts'

/** An expected notification: its delay, or that it did not arrive. `delayMs` is null if arrival is not reported. */
export type TrackedNotification = { at: number; has: 'arrived'; delayMs: number | null } | { at: number; has: 'missed' }

/** The state of one channel, for a person. */
export interface ChannelHealth {
  /** `missing`: the last two did not arrive. `untried`: nothing relevant was sent yet. */
  readonly state: 'reaching' | 'missing' | 'untried'
  /** Oldest first. */
  readonly arrivals: readonly TrackedNotification[]
  readonly last: TrackedNotification | undefined
  readonly cause: MissCause | undefined
}

/**
 * Why notifications do not arrive, if known. `held-back`: delivered, but not shown; `not-allowed`: the server may not
 * contact that address; `wants-token`: it requires a token; `no-answer`: no response; `gone`: the address no longer exists.
 */
export type MissCause = 'held-back' | 'not-allowed' | 'wants-token' | 'no-answer' | 'gone' | 'refused'

type Sent = Channel['health']['last'][number]

/** A notification sent this recently may still arrive. */
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

/** Undefined if irrelevant: the app was in use, it was already answered, or it is still being delivered. */
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

/** The same for the result of a single test. */
export function causeOf({ outcome, reason }: Pick<Sent, 'outcome' | 'reason'>): MissCause {
  if (outcome === 'gone' || outcome === 'unknown') return 'gone'
  if (outcome === 'expired' || outcome === 'waiting') return 'no-answer'
  if (outcome !== 'refused') return 'held-back'
  if (reason === 'address not allowed') return 'not-allowed'
  return reason === 'HTTP 401' || reason === 'HTTP 403' ? 'wants-token' : 'refused'
}
