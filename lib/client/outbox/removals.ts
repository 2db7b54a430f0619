import { mayRetry, Refused } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'

/**
 * Whether a session unknown to the server was removed. False if it never arrived there, for example
 * after the server was restored to a state from before the session; undefined if the server cannot
 * tell: Happy's remembers no removals, and ours forgets the oldest of very many.
 */
export async function wasRemoved(rest: Pick<Rest, 'call'>, session: string, signal: AbortSignal): Promise<boolean | undefined> {
  let place: { since: number; epoch?: string } = { since: 0 }
  for (;;) {
    const query = { ...place, began: 0, limit: mostRows }
    const page = await rest.call('readChanges', { query }, { signal }).catch(orNoAnswer)
    if (!page?.complete) return undefined
    if (page.removed.some(({ of, id }) => of === 'session' && id === session)) return true
    if (!page.more) return false
    place = { since: page.clock, epoch: page.epoch }
  }
}

/** Whether a session that the server had was removed since. Also false if the server cannot tell. */
export async function isDeleted(rest: Pick<Rest, 'call'>, session: string, signal: AbortSignal): Promise<boolean> {
  const isThere = await rest.call('readMessages', { params: { id: session }, query: { limit: 1 } }, { signal }).then(() => true, isNotThere)
  return !isThere && (await wasRemoved(rest, session, signal)) === true
}

function isNotThere(error: unknown): false {
  if (error instanceof Refused && error.status === 404) return false
  throw error
}

const mostRows = 500

/** Errors of another server are no answer; an invalid token is. */
function orNoAnswer(error: unknown): undefined {
  const isFinal = error instanceof Refused && (error.status === 401 || error.status === 403)
  if (isFinal || mayRetry(error) || !(error instanceof Refused)) throw error
  return undefined
}
