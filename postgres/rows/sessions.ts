import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { SessionRow } from '../../lib/store/rows.ts'
import { type FlatSession, openedSession, type SessionDraft, sessionOf } from '../../lib/store/sessions.ts'
import type { Store } from '../../lib/store/store.ts'
import { moveClock, readClock } from '../engine/clock.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { firstRows } from '../engine/list-size.ts'
import { hasRows, withinState } from '../engine/quotas.ts'

const names = `id, metadata, "metadataVersion", "agentState", "agentStateVersion", "dataKey", "lastSeq", "deliveredSeq", "readSeq", active,
  "activeAt", "createdAt", "updatedAt"`
const columns = `session.id, metadata, metadata_version AS "metadataVersion", agent_state AS "agentState",
  agent_state_version AS "agentStateVersion", data_key AS "dataKey", last_seq AS "lastSeq", delivered_seq AS "deliveredSeq",
  read_seq AS "readSeq", active, active_at AS "activeAt", created_at AS "createdAt", updated_at AS "updatedAt"`
const inAccount = 'session.account = (SELECT key FROM account WHERE id = $1)'
const texts = ['metadata', '"agentState"', '"dataKey"']

// The first are selected from the narrow rows before any sealed text is read.
const list = (which: string, by: string) =>
  firstRows(
    `SELECT ${columns}, key FROM (SELECT * FROM session WHERE ${inAccount} ${which} ORDER BY ${by} DESC, key DESC LIMIT $2) AS session
     JOIN session_cells ON session_cells.session = session.key`,
    { columns: names, texts, order: `${by === 'active_at' ? '"activeAt"' : '"updatedAt"'} DESC, key DESC` }
  )
const listAll = list('', 'updated_at')
const listActive = list('AND active AND active_at > $3', 'active_at')
const page = firstRows(
  `SELECT ${columns} FROM (
     SELECT * FROM session WHERE ${inAccount} AND ($3::text IS NULL OR id < $3) AND updated_at > $4 ORDER BY id DESC LIMIT $2) AS session
   JOIN session_cells ON session_cells.session = session.key`,
  { columns: names, texts, order: 'id DESC' }
)
const isMore = `SELECT FROM session WHERE ${inAccount} AND id < $2 AND updated_at > $3 LIMIT 1`
const find = `SELECT ${columns} FROM session JOIN session_cells ON session_cells.session = session.key WHERE ${inAccount}`
const findById = `${find} AND session.id = $2`
const findByIds = `${find} AND session.id = ANY($2)`
const findByTag = `${find} AND digest_of(session.tag) = digest_of($2)`

export function sessions({
  write,
  read,
  snapshot
}: Deps): Pick<Store, 'openSession' | 'listSessions' | 'listActiveSessions' | 'pageSessions' | 'findSession'> {
  return {
    openSession: (account, draft, quotas = noQuotas) =>
      write(account, tx => withinState(tx, account, quotas, () => open(tx, account, draft, quotas)), {
        bytes: draft.metadata.length + (draft.agentState?.length ?? 0)
      }),
    listSessions: (account, limit) => read(async queries => (await queries.all<FlatSession>(listAll, [account, limit])).map(sessionOf)),
    listActiveSessions: (account, { since, limit }) =>
      read(async queries => (await queries.all<FlatSession>(listActive, [account, limit, since])).map(sessionOf)),
    pageSessions: (account, { before = null, changedSince, limit }) =>
      snapshot(async queries => {
        const rows = await queries.all<FlatSession>(page, [account, limit, before, changedSince])
        const last = rows.at(-1)
        const more = last !== undefined && (await queries.get(isMore, [account, last.id, changedSince])) !== undefined
        return { sessions: rows.map(sessionOf), more }
      }),
    findSession: (account, session) => read(async queries => (await findSession(queries, account, session)) ?? 'missing')
  }
}

async function open(tx: Tx, account: AccountId, draft: SessionDraft, quotas: Quotas) {
  const known = await tx.get<FlatSession>(findByTag, [account, draft.tag])
  if (known) return { session: sessionOf(known), created: false, clock: await readClock(tx, account) }
  if (await hasRows(tx, 'session', account, quotas.sessions)) throw new OverQuota('sessions')

  const clock = await moveClock(tx, account, 1)
  const { id, tag, now, dataKey, metadata, agentState } = draft
  await tx.run(
    `WITH created AS (
       INSERT INTO session (account, id, tag, clock, active, active_at, created_at, updated_at)
       SELECT key, $2, $3, $4, true, $5, $5, $5 FROM account WHERE id = $1 RETURNING key, account)
     INSERT INTO session_cells (session, account, data_key, metadata, metadata_version, agent_state, agent_state_version)
     SELECT key, account, $6, $7, 0, $8, 0 FROM created`,
    [account, id, tag, clock, now, dataKey, metadata, agentState]
  )
  return { session: openedSession(draft), created: true, clock }
}

export async function findSession(queries: Queries, account: AccountId, session: SessionId): Promise<SessionRow | undefined> {
  const row = await queries.get<FlatSession>(findById, [account, session])
  return row && sessionOf(row)
}

export async function findSessions(queries: Queries, account: AccountId, sessions: readonly SessionId[]): Promise<SessionRow[]> {
  if (sessions.length === 0) return []
  return (await queries.all<FlatSession>(findByIds, [account, sessions])).map(sessionOf)
}
