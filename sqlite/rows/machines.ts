import type { Database } from 'better-sqlite3'
import type { AccountId, MachineId, Sealed } from '../../lib/protocol/wire/ids.ts'
import { within } from '../../lib/store/list-size.ts'
import { type FlatMachine, type MachineDraft, machineOf, openedMachine } from '../../lib/store/machines.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { MachineRow } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import { accountClock } from '../engine/clock.ts'
import type { Deps } from '../engine/deps.ts'
import { freeKey } from '../engine/leftovers.ts'
import { rowQuota, stateQuota } from '../engine/quotas.ts'

const select = `SELECT id, metadata, metadata_version AS metadataVersion, daemon_state AS daemonState, daemon_state_version AS daemonStateVersion,
  data_key AS dataKey, active, active_at AS activeAt, created_at AS createdAt, updated_at AS updatedAt
  FROM machine WHERE account = (SELECT key FROM account WHERE id = ?)`

export function machines({ database, queue }: Deps): Pick<Store, 'openMachine' | 'listMachines' | 'findMachine'> {
  const find = findMachine(database)
  const list = database.prepare<[AccountId], FlatMachine>(`${select} ORDER BY active_at DESC, key DESC`)
  const create = database.prepare<[AccountId, MachineId, Sealed | null, Sealed, Sealed | null, number, number, number, number, number]>(
    `INSERT INTO machine (key, account, id, data_key, metadata, metadata_version, daemon_state, daemon_state_version, active, active_at, created_at, updated_at, clock)
     VALUES (${freeKey('machine')}, (SELECT key FROM account WHERE id = ?), ?, ?, ?, 1, ?, ?, 0, ?, ?, ?, ?)`
  )
  const clock = accountClock(database)
  const hasRows = rowQuota(database, 'machine')
  const withinState = stateQuota(database)

  function open(account: AccountId, draft: MachineDraft, quotas: Quotas) {
    const known = find(account, draft.id)
    if (known) return { machine: known, created: false, clock: clock.read(account) }
    if (hasRows(account, quotas.machines)) throw new OverQuota('machines')

    const { id, dataKey, metadata, daemonState, now } = draft
    const machine = openedMachine(draft)
    const moved = clock.move(account, 2)
    create.run(account, id, dataKey, metadata, daemonState, machine.daemonState.version, now, now, now, moved)
    return { machine, created: true, clock: moved }
  }

  return {
    openMachine: (account, draft, quotas = noQuotas) =>
      queue.write(() => withinState(account, quotas, () => open(account, draft, quotas)), {
        bytes: draft.metadata.length + (draft.daemonState?.length ?? 0)
      }),
    listMachines: account => queue.read(() => within(list.iterate(account)).map(machineOf)),
    findMachine: (account, machine) => queue.read(() => find(account, machine) ?? 'missing')
  }
}

export function findMachine(database: Database): (account: AccountId, machine: MachineId) => MachineRow | undefined {
  const find = database.prepare<[AccountId, MachineId], FlatMachine>(`${select} AND id = ?`)
  return (account, machine) => {
    const row = find.get(account, machine)
    return row && machineOf(row)
  }
}
