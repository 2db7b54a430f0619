import type { Database } from 'better-sqlite3'
import type { AccountId, Sealed, SessionId } from '../../lib/protocol/wire/ids.ts'
import { within } from '../../lib/store/list-size.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { SessionRow } from '../../lib/store/rows.ts'
import { type FlatSession, openedSession, type SessionDraft, sessionOf } from '../../lib/store/sessions.ts'
import type { Store } from '../../lib/store/store.ts'
import { accountClock } from '../engine/clock.ts'
import type { Deps } from '../engine/deps.ts'
import { freeKey } from '../engine/leftovers.ts'
import { rowQuota, stateQuota } from '../engine/quotas.ts'
import { afterAllText } from '../engine/text-order.ts'

const columns = `session.id, metadata, metadata_version AS metadataVersion, agent_state AS agentState, agent_state_version AS agentStateVersion,
  data_key AS dataKey, last_seq AS lastSeq, delivered_seq AS deliveredSeq, read_seq AS readSeq, active, active_at AS activeAt, created_at AS createdAt, updated_at AS updatedAt`
const inAccount = 'session.account = (SELECT key FROM account WHERE id = ?)'

export function sessions({
  database,
  queue
}: Deps): Pick<Store, 'openSession' | 'listSessions' | 'listActiveSessions' | 'pageSessions' | 'findSession'> {
  const findById = findSession(database)
  const findByTag = database.prepare<[AccountId, string], FlatSession>(findBy('tag'))
  // The newest are selected from the narrow rows before any sealed text is read.
  const list = database.prepare<[AccountId, number], FlatSession>(
    `SELECT ${columns} FROM (SELECT * FROM session WHERE ${inAccount} ORDER BY updated_at DESC, key DESC LIMIT ?) AS session
     JOIN session_cells ON session = key ORDER BY updated_at DESC, key DESC`
  )
  const listActive = database.prepare<[AccountId, number, number], FlatSession>(
    `SELECT ${columns} FROM (SELECT * FROM session WHERE ${inAccount} AND active = 1 AND active_at > ? ORDER BY active_at DESC, key DESC LIMIT ?)
     AS session JOIN session_cells ON session = key ORDER BY active_at DESC, key DESC`
  )
  const page = database.prepare<[AccountId, string | Buffer, number, number], FlatSession>(
    `SELECT ${columns} FROM session JOIN session_cells ON session = key
     WHERE ${inAccount} AND session.id < ? AND updated_at > ? ORDER BY session.id DESC LIMIT ?`
  )
  const create = database.prepare<[AccountId, SessionId, string, number, number, number, number]>(
    `INSERT INTO session (key, account, id, tag, clock, active, active_at, created_at, updated_at)
     VALUES (${freeKey('session')}, (SELECT key FROM account WHERE id = ?), ?, ?, ?, 1, ?, ?, ?)`
  )
  const createCells = database.prepare<[Sealed | null, Sealed, Sealed | null, AccountId, SessionId]>(
    `INSERT INTO session_cells (session, account, data_key, metadata, metadata_version, agent_state, agent_state_version)
     SELECT key, account, ?, ?, 0, ?, 0 FROM session WHERE ${inAccount} AND id = ?`
  )
  const isFull = rowQuota(database, 'session')
  const withinState = stateQuota(database)
  const clock = accountClock(database)

  function open(account: AccountId, draft: SessionDraft, quotas: Quotas) {
    const known = findByTag.get(account, draft.tag)
    if (known) return { session: sessionOf(known), created: false, clock: clock.read(account) }
    if (isFull(account, quotas.sessions)) throw new OverQuota('sessions')

    const moved = clock.move(account, 1)
    create.run(account, draft.id, draft.tag, moved, draft.now, draft.now, draft.now)
    createCells.run(draft.dataKey, draft.metadata, draft.agentState, account, draft.id)
    return { session: openedSession(draft), created: true, clock: moved }
  }

  return {
    openSession: (account, draft, quotas = noQuotas) =>
      queue.write(() => withinState(account, quotas, () => open(account, draft, quotas)), {
        bytes: draft.metadata.length + (draft.agentState?.length ?? 0)
      }),
    listSessions: (account, limit) => queue.read(() => within(list.iterate(account, limit)).map(sessionOf)),
    listActiveSessions: (account, { since, limit }) => queue.read(() => within(listActive.iterate(account, since, limit)).map(sessionOf)),
    pageSessions: (account, { before = afterAllText, changedSince, limit }) =>
      queue.read(() => {
        const rows = within(page.iterate(account, before, changedSince, limit))
        const last = rows.at(-1)
        const more = last !== undefined && page.get(account, last.id, changedSince, 1) !== undefined
        return { sessions: rows.map(sessionOf), more }
      }),
    findSession: (account, session) => queue.read(() => findById(account, session) ?? 'missing')
  }
}

const findBy = (column: 'id' | 'tag') =>
  `SELECT ${columns} FROM session JOIN session_cells ON session = key WHERE ${inAccount} AND session.${column} = ?`

export function findSession(database: Database): (account: AccountId, session: SessionId) => SessionRow | undefined {
  const find = database.prepare<[AccountId, SessionId], FlatSession>(findBy('id'))
  return (account, session) => {
    const row = find.get(account, session)
    return row && sessionOf(row)
  }
}
