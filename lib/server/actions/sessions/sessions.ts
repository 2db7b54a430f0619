import { failure } from '../../../protocol/wire/failures.ts'
import { type SessionId, sessionId } from '../../../protocol/wire/ids.ts'
import type { BodyOf, QueryOf } from '../../../protocol/wire/routes.ts'
import * as v from '../../../schema.ts'
import type { SessionRow } from '../../../store/rows.ts'
import type { LeftoverSweep } from '../../chores/leftover-sweep.ts'
import type { Presence } from '../../chores/presence.ts'
import type { Caller, Deps } from '../../deps.ts'
import { announce } from '../../publish.ts'

const mostListed = 150
const activeWithinMs = 15 * 60_000
const cursorPrefix = 'cursor_v1_'

/** Creates a session, or returns the one with this tag unchanged; after that its heartbeats count again. */
export async function openSession(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'newId' | 'quotas'> & { presence: Presence },
  caller: Caller,
  body: BodyOf<'openSession'>
): Promise<SessionRow> {
  const { store, newId, now, quotas, presence } = deps
  const draft = {
    id: newId() as SessionId,
    tag: body.tag,
    metadata: body.metadata,
    agentState: body.agentState ?? null,
    dataKey: body.dataEncryptionKey ?? null,
    now: now()
  }
  const { session, created, clock } = await store.openSession(caller.account, draft, quotas(caller.account))
  if (created) announce(deps, caller, clock, { type: 'session-opened', session })
  else presence.listenAgain(caller.account, session.id)
  return session
}

export async function listSessions({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<SessionRow[]> {
  return store.listSessions(caller.account, mostListed)
}

export async function listActiveSessions(
  { store, now }: Pick<Deps, 'store' | 'now'>,
  caller: Caller,
  limit: number
): Promise<SessionRow[]> {
  return store.listActiveSessions(caller.account, { since: now() - activeWithinMs, limit })
}

/** A cursor names the last session of the previous page, which may have been removed by now. */
export async function pageSessions(
  { store }: Pick<Deps, 'store'>,
  caller: Caller,
  { cursor, limit, changedSince = 0 }: QueryOf<'pageSessions'>
): Promise<{ sessions: SessionRow[]; nextCursor: string | null }> {
  const before = cursor === undefined ? undefined : sessionOf(cursor)
  const { sessions, more } = await store.pageSessions(caller.account, { before, changedSince, limit })
  const last = sessions.at(-1)
  return { sessions, nextCursor: more && last ? cursorPrefix + last.id : null }
}

function sessionOf(cursor: string): SessionId {
  const { data } = v.safeParse(sessionId, cursor.slice(cursorPrefix.length))
  if (!cursor.startsWith(cursorPrefix) || data === undefined) throw failure('bad-cursor')
  return data
}

export async function archiveSession(
  deps: Pick<Deps, 'store' | 'now'> & { presence: Presence },
  caller: Caller,
  id: SessionId
): Promise<void> {
  const session = await deps.store.findSession(caller.account, id)
  if (session === 'missing') throw failure('session-not-found')
  await deps.presence.sessionEnded(caller, id)
}

export async function removeSession(
  deps: Pick<Deps, 'store' | 'bus' | 'now'> & { presence: Presence; leftoverSweep: Pick<LeftoverSweep, 'soon'> },
  caller: Caller,
  id: SessionId
): Promise<void> {
  const removed = await deps.store.remove(caller.account, { of: 'session', id })
  if (removed === 'missing') throw failure('session-not-removable')
  deps.presence.forget(caller.account, { of: 'session', id })
  deps.leftoverSweep.soon()
  announce(deps, caller, removed.clock, { type: 'row-removed', row: { of: 'session', id }, by: caller.device })
}
