import type { ChannelHealth, TrackedNotification } from '../model/notifications/channel-health.ts'
import { delayInWords, notifications as words } from '../words/notifications.ts'
import { agoInWords } from '../words/time.ts'

/** What became of the last notification. `now`: ms since 1970. */
export function lastWords(last: TrackedNotification | undefined, state: ChannelHealth['state'], now: number): string {
  if (last === undefined) return words.untriedText
  if (state === 'missing') return words.lastTwoMissed
  const when = agoInWords(last.at, now)
  if (last.has === 'missed') return words.lastMissed(when)
  return last.delayMs === null ? words.lastUntimed(when) : words.lastArrived(when, delayInWords(last.delayMs))
}

/** The bars for those who do not see them. */
export function barsInWords(last: readonly TrackedNotification[]): string {
  const missed = last.filter(({ has }) => has === 'missed').length
  if (missed === last.length) return words.barsNone(last.length)
  return words.bars(last.length, missed, delayInWords(Math.max(...last.map(delayOf))))
}

/** 0 if it is not known. */
export function delayOf(arrival: TrackedNotification): number {
  return arrival.has === 'arrived' ? (arrival.delayMs ?? 0) : 0
}
