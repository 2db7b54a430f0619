import type { Statement } from 'better-sqlite3'
import type { AccountId, Sealed } from '../../lib/protocol/wire/ids.ts'
import { checksumOf } from '../../lib/store/checksum.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Cell, CellRef, Conflict, Written } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import { accountClock } from '../engine/clock.ts'
import type { Deps } from '../engine/deps.ts'
import { stateQuota } from '../engine/quotas.ts'

/** How one kind of cell is read, written with an expected version, and its row marked as changed. */
interface CellStatements {
  read: Statement<[AccountId, string], Cell>
  write: Statement<[Sealed | null, AccountId, string, number]>
  touch: Statement<[number, number, AccountId, string]>
}

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const emptyCell: Cell = { version: 0, value: null }

/** Sealed values that can be written only with the current version. */
export function cells({ database, queue }: Deps): Pick<Store, 'readSettings' | 'writeCell'> {
  const touchRow = (table: 'session' | 'machine') =>
    database.prepare<[number, number, AccountId, string]>(
      `UPDATE ${table} SET updated_at = ?, clock = ? WHERE account = ${accountKey} AND id = ?`
    )

  const ofSession = (column: 'metadata' | 'agent_state'): CellStatements => ({
    ...versioned('session_cells', column, `session = (SELECT key FROM session WHERE account = ${accountKey} AND id = ?)`),
    touch: touchRow('session')
  })
  const ofMachine = (column: 'metadata' | 'daemon_state'): CellStatements => ({
    ...versioned('machine', column, `account = ${accountKey} AND id = ?`),
    touch: touchRow('machine')
  })
  const versioned = (table: 'session_cells' | 'machine', column: string, isIt: string): Omit<CellStatements, 'touch'> => ({
    read: database.prepare(`SELECT ${column}_version AS version, ${column} AS value FROM ${table} WHERE ${isIt}`),
    write: database.prepare(
      `UPDATE ${table} SET ${column} = ?, ${column}_version = ${column}_version + 1 WHERE ${isIt} AND ${column}_version = ?`
    )
  })
  const session = { metadata: ofSession('metadata'), agentState: ofSession('agent_state') }
  const machine = { metadata: ofMachine('metadata'), daemonState: ofMachine('daemon_state') }

  const findKey = database.prepare<[AccountId], number>('SELECT key FROM account WHERE id = ?').pluck()
  const readSettings = database.prepare<[AccountId], Cell>(
    `SELECT settings_version AS version, settings AS value FROM account_cells WHERE account = ${accountKey}`
  )
  const writeSettings = database.prepare<[AccountId, Sealed | null, number, number]>(
    `INSERT INTO account_cells (account, settings, settings_version, settings_clock, crc) VALUES (${accountKey}, ?, 1, ?, ?)
     ON CONFLICT (account) DO UPDATE
     SET settings = excluded.settings, settings_version = settings_version + 1, settings_clock = excluded.settings_clock, crc = excluded.crc`
  )
  const clock = accountClock(database)
  const within = stateQuota(database)

  function write(account: AccountId, cell: CellRef, expected: number, value: Sealed | null, now: number): Written | Conflict | 'missing' {
    switch (cell.of) {
      case 'session':
        return writeRow(session[cell.name], account, cell.id, expected, value, now)
      case 'machine':
        return writeRow(machine[cell.name], account, cell.id, expected, value, now)
      case 'account':
        return writeAccount(account, expected, value)
    }
  }

  function writeRow(row: CellStatements, account: AccountId, id: string, expected: number, value: Sealed | null, now: number) {
    if (row.write.run(value, account, id, expected).changes === 0) return conflictWith(row.read.get(account, id))
    const moved = clock.move(account, 1)
    row.touch.run(now, moved, account, id)
    return written(expected, moved)
  }

  function writeAccount(account: AccountId, expected: number, value: Sealed | null): Written | Conflict | 'missing' {
    const key = findKey.get(account)
    if (key === undefined) return 'missing'
    const current = readSettings.get(account) ?? emptyCell
    if (current.version !== expected) return { written: false, current }
    const moved = clock.move(account, 1)
    writeSettings.run(account, value, moved, checksumOf(key, key, value))
    return written(expected, moved)
  }

  const conflictWith = (current: Cell | undefined): Conflict | 'missing' => (current ? { written: false, current } : 'missing')
  const written = (expected: number, clock: number): Written => ({ written: true, version: expected + 1, clock })

  return {
    readSettings: account => queue.read(() => readSettings.get(account) ?? emptyCell),
    writeCell: (account, cell, expected, value, now, quotas = noQuotas) =>
      queue.write(() => within(account, quotas, () => write(account, cell, expected, value, now)), { bytes: value?.length ?? 0 })
  }
}
