import { failure } from '../../../protocol/wire/failures.ts'
import type { SessionId } from '../../../protocol/wire/ids.ts'
import type { QueryOf } from '../../../protocol/wire/routes.ts'
import type { Message, MessageDraft, Page } from '../../../store/rows.ts'
import type { Caller, Deps } from '../../deps.ts'
import { announce } from '../../publish.ts'

const aboveEverySeq = 2_147_483_647
/** The route has no parameters: existing apps count on this many. */
const mostLatest = 150

/**
 * Answers every draft in the order of the numbers, those stored before included. Only new ones are
 * announced, after the commit.
 */
export async function appendMessages(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'quotas'>,
  caller: Caller,
  session: SessionId,
  drafts: readonly MessageDraft[]
): Promise<Message[]> {
  const outcome = await deps.store.appendMessages(caller.account, session, drafts, deps.now(), deps.quotas(caller.account))
  if (outcome === 'missing') throw failure('session-not-found')
  if (outcome === 'full') throw failure('session-full')

  if (outcome.added.length > 0) announce(deps, caller, outcome.clock, { type: 'messages-added', session, messages: outcome.added })
  return outcome.messages
}

export async function readMessages(
  { store }: Pick<Deps, 'store'>,
  caller: Caller,
  session: SessionId,
  query: QueryOf<'readMessages'>
): Promise<Page> {
  const { limit } = query
  const page = query.before_seq === undefined ? { after: query.after_seq ?? 0, limit } : { before: query.before_seq, limit }
  return found(await store.readMessages(caller.account, session, page))
}

/** The newest first. */
export async function readLatestMessages({ store }: Pick<Deps, 'store'>, caller: Caller, session: SessionId): Promise<Message[]> {
  const page = found(await store.readMessages(caller.account, session, { before: aboveEverySeq, limit: mostLatest }))
  return page.messages
}

function found(page: Page | 'missing'): Page {
  if (page === 'missing') throw failure('session-not-found')
  return page
}
