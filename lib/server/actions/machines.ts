import { failure } from '../../protocol/wire/failures.ts'
import type { MachineId, Sealed } from '../../protocol/wire/ids.ts'
import type { BodyOf } from '../../protocol/wire/routes.ts'
import type { Conflict, MachineRow, Written } from '../../store/rows.ts'
import type { LeftoverSweep } from '../chores/leftover-sweep.ts'
import type { Presence } from '../chores/presence.ts'
import type { Caller, Deps } from '../deps.ts'
import { announce } from '../publish.ts'
import { writeCell } from './cells.ts'

/** Registers a machine, or returns the one this account has under the id, unchanged. */
export async function openMachine(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'quotas'>,
  caller: Caller,
  body: BodyOf<'openMachine'>
): Promise<MachineRow> {
  const draft = {
    id: body.id,
    metadata: body.metadata,
    daemonState: body.daemonState ?? null,
    dataKey: body.dataEncryptionKey ?? null,
    now: deps.now()
  }
  const { machine, created, clock } = await deps.store.openMachine(caller.account, draft, deps.quotas(caller.account))
  if (created) announce(deps, caller, clock, { type: 'machine-opened', machine })
  return machine
}

export async function listMachines({ store }: Pick<Deps, 'store'>, caller: Caller): Promise<MachineRow[]> {
  return store.listMachines(caller.account)
}

export async function readMachine({ store }: Pick<Deps, 'store'>, caller: Caller, id: MachineId): Promise<MachineRow> {
  const machine = await store.findMachine(caller.account, id)
  if (machine === 'missing') throw failure('machine-not-found')
  return machine
}

/** A daemon that reports its state is online. */
export async function writeDaemonState(
  deps: Pick<Deps, 'store' | 'bus' | 'now' | 'quotas'> & { presence: Pick<Presence, 'alive'> },
  caller: Caller,
  { id, expected, value }: { id: MachineId; expected: number; value: Sealed | null }
): Promise<Written | Conflict | 'missing'> {
  const outcome = await writeCell(deps, caller, { of: 'machine', id, name: 'daemonState' }, expected, value)
  if (outcome !== 'missing' && outcome.written)
    // The state is stored, whether or not this succeeds.
    await deps.presence.alive(caller, { of: 'machine', id }, { time: deps.now(), thinking: false }).catch(() => {})
  return outcome
}

export async function removeMachine(
  deps: Pick<Deps, 'store' | 'bus' | 'now'> & { presence: Presence; leftoverSweep: Pick<LeftoverSweep, 'soon'> },
  caller: Caller,
  id: MachineId
): Promise<void> {
  const removed = await deps.store.remove(caller.account, { of: 'machine', id })
  if (removed === 'missing') throw failure('machine-not-found')
  deps.presence.forget(caller.account, { of: 'machine', id })
  deps.leftoverSweep.soon()
  announce(deps, caller, removed.clock, { type: 'row-removed', row: { of: 'machine', id } })
}
