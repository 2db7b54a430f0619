import type { SessionRecord } from '../../protocol/wire/records.ts'
import { Refused } from '../link/refusals.ts'
import type { Rest } from '../link/rest.ts'
import type { Retrier } from '../link/retry.ts'

const pageSize = 200

/** Every session of the account, page by page. None if the server has no pages. */
export async function* readOlderSessions(rest: Pick<Rest, 'call'>, retrier: Retrier): AsyncGenerator<SessionRecord[]> {
  for (let cursor: string | undefined; ; ) {
    const query = { limit: pageSize, ...(cursor !== undefined && { cursor }) }
    try {
      const page = await retrier.attempt(signal => rest.call('pageSessions', { query }, { signal }))
      yield page.sessions
      if (!page.hasNext || page.nextCursor === null) return
      cursor = page.nextCursor
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return
      throw error
    }
  }
}
