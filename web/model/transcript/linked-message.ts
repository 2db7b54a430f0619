import type { Route } from '../../core/routes.ts'
import type { SessionModel } from '../session/session.ts'
import type { KnownMessage } from './message.ts'

/** The number of the message in the address, such as `/s/abc/m/12`; NaN when it is none. */
export function linkedMessage(at: Route): number | undefined {
  if (at.name !== 'session' || at.view[0] !== 'm') return undefined
  const seq = Number(at.view[1])
  return Number.isInteger(seq) && seq > 0 ? seq : Number.NaN
}

/** Whether a message is certainly not in its session: all that could hold it is known. */
export function isGone(seq: number, messages: readonly KnownMessage[], model: Pick<SessionModel, 'feed' | 'older'>): boolean {
  if (model.feed.value !== 'live') return false
  const first = messages[0]?.seq
  // What comes behind the first one that is known is known; what comes before it is still to be read.
  const isFurtherBack = first !== undefined && seq < first
  return isFurtherBack ? model.older.value === 'none' : !messages.some(message => message.seq === seq)
}
