import type { AccountId, Sealed } from '../../lib/protocol/wire/ids.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Cell, CellRef, Conflict, Written } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import { moveClock } from '../engine/clock.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { withinState } from '../engine/quotas.ts'

const accountKey = '(SELECT key FROM account WHERE id = $1)'
const emptyCell: Cell = { version: 0, value: null }

/** How one kind of cell is read, written with an expected version, and its row marked as changed. */
interface CellStatements {
  read: string
  write: string
  touch: string
}

const session = { metadata: ofSession('metadata'), agentState: ofSession('agent_state') }
const machine = { metadata: ofMachine('metadata'), daemonState: ofMachine('daemon_state') }

function ofSession(column: 'metadata' | 'agent_state'): CellStatements {
  return statements('session', 'session_cells', column, `session = (SELECT key FROM session WHERE account = ${accountKey} AND id = $2)`)
}

function ofMachine(column: 'metadata' | 'daemon_state'): CellStatements {
  return statements('machine', 'machine', column, `account = ${accountKey} AND id = $2`)
}

function statements(row: 'session' | 'machine', table: string, column: string, isIt: string): CellStatements {
  return {
    read: `SELECT ${column}_version AS version, ${column} AS value FROM ${table} WHERE ${isIt}`,
    write: `UPDATE ${table} SET ${column} = $3, ${column}_version = ${column}_version + 1 WHERE ${isIt} AND ${column}_version = $4`,
    touch: `UPDATE ${row} SET updated_at = $3, clock = $4 WHERE account = ${accountKey} AND id = $2`
  }
}

/** Sealed values that can be written only with the current version. */
export function cells({ write, read }: Deps): Pick<Store, 'readSettings' | 'writeCell'> {
  return {
    readSettings: account => read(async queries => (await readSettings(queries, account)) ?? emptyCell),
    writeCell: (account, cell, expected, value, now, quotas = noQuotas) =>
      write(account, tx => withinState(tx, account, quotas, () => writeCell(tx, account, cell, expected, value, now)), {
        bytes: value?.length ?? 0
      })
  }
}

function writeCell(
  tx: Tx,
  account: AccountId,
  cell: CellRef,
  expected: number,
  value: Sealed | null,
  now: number
): Promise<Written | Conflict | 'missing'> {
  switch (cell.of) {
    case 'session':
      return writeRow(tx, session[cell.name], [account, cell.id], expected, value, now)
    case 'machine':
      return writeRow(tx, machine[cell.name], [account, cell.id], expected, value, now)
    case 'account':
      return writeSettings(tx, account, expected, value)
  }
}

async function writeRow(
  tx: Tx,
  { read, write, touch }: CellStatements,
  [account, id]: [AccountId, string],
  expected: number,
  value: Sealed | null,
  now: number
): Promise<Written | Conflict | 'missing'> {
  if ((await tx.run(write, [account, id, value, expected])) === 0) {
    const current = await tx.get<Cell>(read, [account, id])
    return current ? { written: false, current } : 'missing'
  }
  const clock = await moveClock(tx, account, 1)
  tx.send(touch, [account, id, now, clock])
  return { written: true, version: expected + 1, clock }
}

async function writeSettings(tx: Tx, account: AccountId, expected: number, value: Sealed | null): Promise<Written | Conflict | 'missing'> {
  if ((await tx.get('SELECT FROM account WHERE id = $1', [account])) === undefined) return 'missing'
  const current = (await readSettings(tx, account)) ?? emptyCell
  if (current.version !== expected) return { written: false, current }
  const clock = await moveClock(tx, account, 1)
  await tx.run(
    `INSERT INTO account_cells (account, settings, settings_version, settings_clock) VALUES (${accountKey}, $2, 1, $3)
     ON CONFLICT (account) DO UPDATE
     SET settings = excluded.settings, settings_version = account_cells.settings_version + 1, settings_clock = excluded.settings_clock`,
    [account, value, clock]
  )
  return { written: true, version: expected + 1, clock }
}

export function readSettings(queries: Queries, account: AccountId): Promise<Cell | undefined> {
  return queries.get<Cell>(`SELECT settings_version AS version, settings AS value FROM account_cells WHERE account = ${accountKey}`, [
    account
  ])
}
