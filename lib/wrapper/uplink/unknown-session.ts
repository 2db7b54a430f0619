import { createPersistence } from '../../client/link/persist.ts'
import type { Rest } from '../../client/link/rest.ts'
import { wasRemoved } from '../../client/outbox/removals.ts'
import type { Link } from './link-state.ts'

export interface UnknownSessionOptions {
  rest: Rest
  link: Pick<Link, 'enter'>
  signal: AbortSignal
  /** The server's id of the session now. */
  current(): string | undefined
  /** Resolves when it is open. */
  openAgain(): Promise<unknown>
}

/**
 * What becomes of a session of which the server says that it has none. One that was deleted is over. One that a server does not know
 * because it was put back to an older state is opened there again: nothing that waits for it may be lost by that.
 */
export function createUnknownSession({ rest, link, signal, current, openAgain }: UnknownSessionOptions) {
  const persistence = createPersistence({ signal })
  const lost = new Set<string>()
  let asking: Promise<boolean> | undefined

  async function ask(session: string): Promise<boolean> {
    const isRemoved = await persistence.attempt(signal => wasRemoved(rest, session, signal))
    // One that was opened again and is unknown once more would be opened without end.
    const isOpenedAgain = isRemoved === false && !lost.has(session)
    if (isOpenedAgain) {
      lost.add(session)
      // Until then others that were refused under its name of before wait with it.
      await openAgain()
    } else link.enter({ type: isRemoved ? 'gone' : 'unknown' })
    return isOpenedAgain
  }

  return {
    /** Whether this one is opened again, or was. Rejects when the server cannot be asked. */
    async isOpenedAgain(session: string): Promise<boolean> {
      if (current() !== session) return true
      asking ??= ask(session).finally(() => {
        asking = undefined
      })
      return asking
    }
  }
}
