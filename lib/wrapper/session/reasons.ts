import { newId } from '../../client/sealed/messages.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import type { WhyNot } from './requests/requests.ts'

/** Why a person said no or stopped the turn, in words for the agent. On disk until it has them: nobody would say it again. */
export type Reason = NonNullable<SessionNotes['reasons']>[number]

type Kept = Pick<SessionNotes, 'reasons'>

export function reasonOf({ title, reason }: WhyNot, { stops }: { stops: boolean }): Reason {
  return { localId: newId(), text: stops ? `I stopped you at “${title}”: ${reason}` : `I said no to “${title}”: ${reason}` }
}

/** What has to be noted before anything is done about it. */
export function withReason({ reasons = [] }: Kept, reason: Reason): Kept {
  return { reasons: [...reasons, reason] }
}

/** What has to be noted once the agent has the message of this local id; nothing when that is no reason. */
export function withoutReason({ reasons = [] }: Kept, localId: string | null | undefined): Kept {
  const left = reasons.filter(reason => reason.localId !== localId)
  return left.length < reasons.length ? { reasons: left } : {}
}
