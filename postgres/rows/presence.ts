import type { AccountId, MachineId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { RowRef } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps, Tx } from '../engine/deps.ts'

type Table = RowRef['of']
type Mark = Parameters<Store['markActive']>[0][number]

interface Swept<Id> {
  account: AccountId
  id: Id
  activeAt: number
}

/** Which sessions and machines are active, as last seen. */
export function presence({ write }: Deps): Pick<Store, 'markActive' | 'sweepActive'> {
  return {
    markActive: marks =>
      write([...new Set(marks.map(({ account }) => account))], async tx => {
        for (const table of ['session', 'machine'] as const) markRows(tx, table, lastOfEach(marks.filter(({ row }) => row.of === table)))
      }),
    sweepActive: before =>
      write('shared', async tx => [
        ...(await sweep<SessionId>(tx, 'session', before)).map(({ id, ...rest }) => ({ ...rest, row: { of: 'session' as const, id } })),
        ...(await sweep<MachineId>(tx, 'machine', before)).map(({ id, ...rest }) => ({ ...rest, row: { of: 'machine' as const, id } }))
      ])
  }
}

/** A statement changes each row once: the last mark counts, at the latest time of all. */
function lastOfEach(marks: readonly Mark[]): Mark[] {
  const byRow = new Map<string, Mark>()
  for (const mark of marks) {
    const name = `${mark.account} ${mark.row.id}`
    byRow.set(name, { ...mark, at: Math.floor(Math.max(mark.at, byRow.get(name)?.at ?? 0)) })
  }
  return [...byRow.values()]
}

function markRows(tx: Tx, table: Table, marks: readonly Mark[]): void {
  if (marks.length === 0) return
  tx.send(
    `UPDATE ${table} SET active = mark.active, active_at = greatest(active_at, mark.at)
     FROM unnest($1::text[], $2::text[], $3::boolean[], $4::bigint[]) AS mark (account, id, active, at), account
     WHERE account.id = mark.account AND ${table}.account = account.key AND ${table}.id = mark.id`,
    [marks.map(({ account }) => account), marks.map(({ row }) => row.id), marks.map(({ active }) => active), marks.map(({ at }) => at)]
  )
}

// A row that is being written is not silent: it is left to the next sweep, so that this one waits for nobody.
function sweep<Id>(tx: Tx, table: Table, before: number): Promise<Swept<Id>[]> {
  return tx.all(
    `UPDATE ${table} SET active = false
     WHERE key IN (SELECT key FROM ${table} WHERE active AND active_at < $1 FOR UPDATE SKIP LOCKED)
     RETURNING (SELECT id FROM account WHERE key = ${table}.account) AS account, id, active_at AS "activeAt"`,
    [before]
  )
}
