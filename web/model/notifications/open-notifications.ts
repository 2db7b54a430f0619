import { openRequests } from '../decisions/decisions.ts'
import { openQuestions } from '../decisions/questions.ts'
import { home } from '../home.ts'

/** As created by the worker, see `About` there. */
interface Notified {
  readonly data: { readonly notice?: string; readonly kind?: string; readonly session?: string } | null
  close(): void
}

type Registration = { getNotifications(filter?: { tag: string }): Promise<readonly Notified[]> }

/** Answered or over: no longer needed. */
export async function closeNotice(registration: Registration, notice: string): Promise<void> {
  for (const each of await registration.getNotifications()) if (each.data?.notice === notice) each.close()
}

/** The session itself is on screen. */
export async function closeOfSession(registration: Registration, session: string): Promise<void> {
  for (const each of await registration.getNotifications({ tag: session })) each.close()
}

/** Decisions answered while no app was running: the server's state is newer than the notifications. */
export async function closeAnswered(registration: Registration): Promise<void> {
  for (const each of await registration.getNotifications()) {
    const { kind, session = '' } = each.data ?? {}
    if ((kind === 'permission' || kind === 'question') && isAnswered(session)) each.close()
  }
}

function isAnswered(id: string): boolean {
  const session = home.peek().sessions.get(id)
  // A session that cannot be decrypted here, or is not known yet, may have an open request.
  if (session?.agentState === undefined) return false
  const state = session.agentState ?? undefined
  return openRequests(state).length + openQuestions(state).length === 0
}
