import type { Route } from '../../core/routes.ts'
import type { SessionModel } from '../session/session.ts'
import type { KnownMessage } from './message.ts'

/** The message number in the address, such as `/s/abc/m/12`; NaN if there is none. */
export function linkedMessage(at: Route): number | undefined {
  if (at.name !== 'session' || at.view[0] !== 'm') return undefined
  const seq = Number(at.view[1])
  return Number.isInteger(seq) && seq > 0 ? seq : Number.NaN
}

/** Whether a message is certainly not in its session: all candidates are loaded. */
export function isGone(seq: number, messages: readonly KnownMessage[], model: Pick<SessionModel, 'feed' | 'older'>): boolean {
  if (model.feed.value !== 'live') return false
  const first = messages[0]?.seq
  // Everything after the first loaded message is loaded; earlier ones still have to be read.
  const isFurtherBack = first !== undefined && seq < first
  return isFurtherBack ? model.older.value === 'none' : !messages.some(message => message.seq === seq)
}
