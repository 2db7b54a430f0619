import type { AccountId, MachineId } from '../../lib/protocol/wire/ids.ts'
import { type FlatMachine, type MachineDraft, machineOf, openedMachine } from '../../lib/store/machines.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { MachineRow } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import { moveClock, readClock } from '../engine/clock.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { firstRows } from '../engine/list-size.ts'
import { hasRows, withinState } from '../engine/quotas.ts'

const names = `id, metadata, "metadataVersion", "daemonState", "daemonStateVersion", "dataKey", active, "activeAt", "createdAt", "updatedAt"`
const columns = `id, metadata, metadata_version AS "metadataVersion", daemon_state AS "daemonState",
  daemon_state_version AS "daemonStateVersion", data_key AS "dataKey", active, active_at AS "activeAt", created_at AS "createdAt",
  updated_at AS "updatedAt"`
const inAccount = 'account = (SELECT key FROM account WHERE id = $1)'
const find = `SELECT ${columns} FROM machine WHERE ${inAccount} AND id = $2`
const findByIds = `SELECT ${columns} FROM machine WHERE ${inAccount} AND id = ANY($2)`
const list = firstRows(`SELECT ${columns}, key FROM machine WHERE ${inAccount}`, {
  columns: names,
  texts: ['metadata', '"daemonState"', '"dataKey"'],
  order: '"activeAt" DESC, key DESC'
})

export function machines({ write, read }: Deps): Pick<Store, 'openMachine' | 'listMachines' | 'findMachine'> {
  return {
    openMachine: (account, draft, quotas = noQuotas) =>
      write(account, tx => withinState(tx, account, quotas, () => open(tx, account, draft, quotas)), {
        bytes: draft.metadata.length + (draft.daemonState?.length ?? 0)
      }),
    listMachines: account => read(async queries => (await queries.all<FlatMachine>(list, [account])).map(machineOf)),
    findMachine: (account, machine) => read(async queries => (await findMachine(queries, account, machine)) ?? 'missing')
  }
}

async function open(tx: Tx, account: AccountId, draft: MachineDraft, quotas: Quotas) {
  const known = await findMachine(tx, account, draft.id)
  if (known) return { machine: known, created: false, clock: await readClock(tx, account) }
  if (await hasRows(tx, 'machine', account, quotas.machines)) throw new OverQuota('machines')

  const { id, dataKey, metadata, daemonState, now } = draft
  const machine = openedMachine(draft)
  const clock = await moveClock(tx, account, 2)
  await tx.run(
    `INSERT INTO machine (account, id, data_key, metadata, metadata_version, daemon_state, daemon_state_version, active, active_at,
       created_at, updated_at, clock)
     SELECT key, $2, $3, $4, 1, $5, $6, false, $7, $7, $7, $8 FROM account WHERE id = $1`,
    [account, id, dataKey, metadata, daemonState, machine.daemonState.version, now, clock]
  )
  return { machine, created: true, clock }
}

export async function findMachine(queries: Queries, account: AccountId, machine: MachineId): Promise<MachineRow | undefined> {
  const row = await queries.get<FlatMachine>(find, [account, machine])
  return row && machineOf(row)
}

export async function findMachines(queries: Queries, account: AccountId, machines: readonly MachineId[]): Promise<MachineRow[]> {
  if (machines.length === 0) return []
  return (await queries.all<FlatMachine>(findByIds, [account, machines])).map(machineOf)
}
