import { openRequests } from '../decisions/decisions.ts'
import { openQuestions } from '../decisions/questions.ts'
import { home } from '../home.ts'

/** As the worker leaves them, see `About` there. */
interface Notified {
  readonly data: { readonly notice?: string; readonly kind?: string; readonly session?: string } | null
  close(): void
}

type Registration = { getNotifications(filter?: { tag: string }): Promise<readonly Notified[]> }

/** Answered somewhere, or over: nobody needs it any more. */
export async function closeNotice(registration: Registration, notice: string): Promise<void> {
  for (const each of await registration.getNotifications()) if (each.data?.notice === notice) each.close()
}

/** Somebody looks at the session itself. */
export async function closeOfSession(registration: Registration, session: string): Promise<void> {
  for (const each of await registration.getNotifications({ tag: session })) each.close()
}

/** Decisions that were answered while no app ran: what the server tells now is newer than what was notified. */
export async function closeAnswered(registration: Registration): Promise<void> {
  for (const each of await registration.getNotifications()) {
    const { kind, session = '' } = each.data ?? {}
    if ((kind === 'permission' || kind === 'question') && isAnswered(session)) each.close()
  }
}

function isAnswered(id: string): boolean {
  const session = home.peek().sessions.get(id)
  // What cannot be opened here, or is not known yet, may be open.
  if (session?.agentState === undefined) return false
  const state = session.agentState ?? undefined
  return openRequests(state).length + openQuestions(state).length === 0
}
