import type { AccountId, MachineId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { RowRef } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'

interface Swept<Id> {
  account: AccountId
  id: Id
  activeAt: number
}

/** Which sessions and machines are active, as last seen. */
export function presence({ database, queue }: Deps): Pick<Store, 'markActive' | 'sweepActive'> {
  const mark = (table: 'session' | 'machine') =>
    database.prepare<[number, number, AccountId, string]>(
      `UPDATE ${table} SET active = ?, active_at = max(active_at, ?) WHERE account = (SELECT key FROM account WHERE id = ?) AND id = ?`
    )
  const sweep = (table: 'session' | 'machine') => `UPDATE ${table} SET active = 0 WHERE active = 1 AND active_at < ?
    RETURNING (SELECT id FROM account WHERE key = ${table}.account) AS account, id, active_at AS activeAt`
  const marks = { session: mark('session'), machine: mark('machine') }
  const sweepSessions = database.prepare<[number], Swept<SessionId>>(sweep('session'))
  const sweepMachines = database.prepare<[number], Swept<MachineId>>(sweep('machine'))

  const sweepAll = (before: number): { account: AccountId; row: RowRef; activeAt: number }[] => [
    ...sweepSessions.all(before).map(({ id, ...rest }) => ({ ...rest, row: { of: 'session' as const, id } })),
    ...sweepMachines.all(before).map(({ id, ...rest }) => ({ ...rest, row: { of: 'machine' as const, id } }))
  ]

  return {
    markActive: given =>
      queue.write(() => {
        for (const { account, row, active, at } of given) marks[row.of].run(active ? 1 : 0, Math.floor(at), account, row.id)
      }),
    sweepActive: before => queue.write(() => sweepAll(before))
  }
}
