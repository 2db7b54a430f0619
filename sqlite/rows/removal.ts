import type { Database } from 'better-sqlite3'
import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { mostRemovalsKept } from '../../lib/store/changes.ts'
import type { RemovableRef } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import { accountClock } from '../engine/clock.ts'
import type { Deps } from '../engine/deps.ts'
import { leftovers, ofNoneRemoved } from '../engine/leftovers.ts'

interface Place {
  account: number
  key: number
}

const accountKey = '(SELECT key FROM account WHERE id = ?)'

export function removal({ database, queue }: Deps): Pick<Store, 'remove' | 'removeOldSessions'> {
  const removeArtifact = database.prepare<[AccountId, string]>(`DELETE FROM artifact WHERE account = ${accountKey} AND id = ?`)
  const uncountArtifact = database.prepare<[AccountId, string, AccountId]>(
    `UPDATE account SET artifact_bytes = artifact_bytes - artifact.bytes
     FROM artifact WHERE artifact.account = (SELECT key FROM account WHERE id = ?) AND artifact.id = ? AND account.id = ?`
  )
  const uncount = database.prepare<[AccountId, string, AccountId]>(
    `UPDATE account SET messages = messages - (last_seq - gaps), bytes = account.bytes - session.bytes
     FROM session WHERE session.account = (SELECT key FROM account WHERE id = ?) AND session.id = ? AND account.id = ?`
  )
  const find = (table: 'session' | 'machine') =>
    database.prepare<[AccountId, string], Place>(`SELECT account, key FROM ${table} WHERE account = ${accountKey} AND id = ?`)
  const findSession = find('session')
  const findMachine = find('machine')
  const removeCells = database.prepare<[number, number]>('DELETE FROM session_cells WHERE account = ? AND session = ?')
  const removeSession = database.prepare<[number, number]>('DELETE FROM session WHERE account = ? AND key = ?')
  const removeMachine = database.prepare<[number, number]>('DELETE FROM machine WHERE account = ? AND key = ?')
  // An hourly scan of the narrow rows of all sessions: an index on what each message moves would cost
  // more.
  const old = database.prepare<[number, number, number], { account: AccountId; session: SessionId }>(
    `SELECT (SELECT id FROM account WHERE key = session.account) AS account, id AS session FROM session
     WHERE active = 0 AND updated_at < ? AND active_at < ? AND ${ofNoneRemoved} LIMIT ?`
  )
  const clock = accountClock(database)
  const rest = leftovers(database)
  const remember = rememberRemovals(database)

  function removeRow(account: AccountId, { of, id }: RemovableRef): boolean {
    switch (of) {
      case 'artifact':
        uncountArtifact.run(account, id, account)
        return removeArtifact.run(account, id).changes > 0
      case 'machine': {
        const place = findMachine.get(account, id)
        if (!place) return false
        rest.leave({ kind: 'machine', id, ...place })
        removeMachine.run(place.account, place.key)
        return true
      }
      case 'session': {
        const place = findSession.get(account, id)
        if (!place) return false
        uncount.run(account, id, account)
        rest.leave({ kind: 'session', id, ...place })
        removeCells.run(place.account, place.key)
        removeSession.run(place.account, place.key)
        return true
      }
    }
  }

  function remove(account: AccountId, row: RemovableRef): { clock: number } | 'missing' {
    if (!removeRow(account, row)) return 'missing'
    const moved = clock.move(account, 1)
    remember(account, row, moved)
    return { clock: moved }
  }

  function removeOldSessions(before: number, limit: number): { account: AccountId; session: SessionId; clock: number }[] {
    return old.all(before, before, limit).flatMap(({ account, session }) => {
      const removed = remove(account, { of: 'session', id: session })
      return removed === 'missing' ? [] : [{ account, session, clock: removed.clock }]
    })
  }

  return {
    remove: (account, row) => queue.write(() => remove(account, row), { isLong: true }),
    removeOldSessions: (before, limit) => queue.write(() => removeOldSessions(before, limit), { isLong: true })
  }
}

/** Adds a tombstone, and removes the oldest if there are too many. */
function rememberRemovals(database: Database): (account: AccountId, row: RemovableRef, clock: number) => void {
  const add = database.prepare<[AccountId, number, string, string]>(
    `INSERT INTO removed (account, clock, kind, id) VALUES (${accountKey}, ?, ?, ?)`
  )
  const newestTooMany = database
    .prepare<[AccountId, number], number>(`SELECT clock FROM removed WHERE account = ${accountKey} ORDER BY clock DESC LIMIT 1 OFFSET ?`)
    .pluck()
  const forget = database.prepare<[AccountId, number]>(`DELETE FROM removed WHERE account = ${accountKey} AND clock <= ?`)
  const forgottenUpTo = database.prepare<[number, AccountId]>('UPDATE account SET forgotten_clock = ? WHERE id = ?')

  return (account, { of, id }, clock) => {
    add.run(account, clock, of, id)
    const last = newestTooMany.get(account, mostRemovalsKept)
    if (last === undefined) return
    forget.run(account, last)
    forgottenUpTo.run(last, account)
  }
}
