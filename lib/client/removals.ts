import { mayRetry, Refused } from './refusals.ts'
import type { Rest } from './rest.ts'

/**
 * Whether a session that the server does not know was removed. False when it never came there, as after the server was put back to a state
 * from before the session; undefined when the server cannot tell: Happy's remembers no removals, and ours forgets the oldest of very many.
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

const mostRows = 500

/** Whatever another server makes of the question is no answer; a token that is no longer good is. */
function orNoAnswer(error: unknown): undefined {
  const isFinal = error instanceof Refused && (error.status === 401 || error.status === 403)
  if (isFinal || mayRetry(error) || !(error instanceof Refused)) throw error
  return undefined
}
