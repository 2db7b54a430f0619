import type { Database } from 'better-sqlite3'
import type { AccountId, SessionId } from '../lib/protocol/wire/ids.ts'
import { mostRemovalsKept } from '../lib/store/changes.ts'
import type { RemovableRef, Store } from '../lib/store/store.ts'
import { accountClock } from './clock.ts'
import type { Deps } from './deps.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const sessionKey = `(SELECT key FROM session WHERE account = ${accountKey} AND id = ?)`

export function removal({ database, queue }: Deps): Pick<Store, 'remove' | 'removeOldSessions'> {
  const removeFrom = (table: 'message' | 'session_cells' | 'access_key' | 'usage_report') =>
    database.prepare<[AccountId, AccountId, string]>(`DELETE FROM ${table} WHERE account = ${accountKey} AND session = ${sessionKey}`)
  const removeMessages = removeFrom('message')
  const removeCells = removeFrom('session_cells')
  const removeSessionKeys = removeFrom('access_key')
  const removeUsage = removeFrom('usage_report')
  const leaveAttachments = database.prepare<[AccountId, AccountId, string]>(
    `UPDATE attachment SET session = 0, ends_at = 0 WHERE account = ${accountKey} AND session = ${sessionKey}`
  )
  const removeNotices = database.prepare<[AccountId, string]>(`DELETE FROM notice WHERE account = ${accountKey} AND session = ?`)
  const removeMachineKeys = database.prepare<[AccountId, AccountId, string]>(
    `DELETE FROM access_key WHERE account = ${accountKey} AND machine = (SELECT key FROM machine WHERE account = ${accountKey} AND id = ?)`
  )
  const removeArtifact = database.prepare<[AccountId, string]>(`DELETE FROM artifact WHERE account = ${accountKey} AND id = ?`)
  const uncountArtifact = database.prepare<[AccountId, string, AccountId]>(
    `UPDATE account SET artifact_bytes = artifact_bytes - artifact.bytes
     FROM artifact WHERE artifact.account = (SELECT key FROM account WHERE id = ?) AND artifact.id = ? AND account.id = ?`
  )
  const uncount = database.prepare<[AccountId, string, AccountId]>(
    `UPDATE account SET messages = messages - (last_seq - gaps), bytes = account.bytes - session.bytes
     FROM session WHERE session.account = (SELECT key FROM account WHERE id = ?) AND session.id = ? AND account.id = ?`
  )
  const removeSession = database.prepare<[AccountId, string]>(`DELETE FROM session WHERE account = ${accountKey} AND id = ?`)
  const removeMachine = database.prepare<[AccountId, string]>(`DELETE FROM machine WHERE account = ${accountKey} AND id = ?`)
  // Every hour reads the narrow rows of all sessions: an index on what each message moves would cost more.
  const old = database.prepare<[number, number, number], { account: AccountId; session: SessionId }>(
    `SELECT (SELECT id FROM account WHERE key = session.account) AS account, id AS session FROM session
     WHERE active = 0 AND updated_at < ? AND active_at < ? LIMIT ?`
  )
  const clock = accountClock(database)
  const remember = rememberRemovals(database)

  function removeRow(account: AccountId, { of, id }: RemovableRef): number {
    switch (of) {
      case 'artifact':
        uncountArtifact.run(account, id, account)
        return removeArtifact.run(account, id).changes
      case 'machine':
        removeMachineKeys.run(account, account, id)
        return removeMachine.run(account, id).changes
      case 'session':
        uncount.run(account, id, account)
        for (const what of [removeMessages, removeCells, removeSessionKeys, removeUsage, leaveAttachments]) what.run(account, account, id)
        removeNotices.run(account, id)
        return removeSession.run(account, id).changes
    }
  }

  function remove(account: AccountId, row: RemovableRef): { clock: number } | 'missing' {
    if (removeRow(account, row) === 0) return 'missing'
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
    remove: (account, row) => queue.write(() => remove(account, row)),
    removeOldSessions: (before, limit) => queue.write(() => removeOldSessions(before, limit))
  }
}

/** Leaves a tombstone, and forgets the oldest when there are too many. */
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
