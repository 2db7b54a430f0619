import type { AccountId, MachineId, Sealed } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'
import type { MachineRow } from './rows.ts'

/** The computers of an account. */
export interface MachineStore {
  /** Metadata starts at version 1, the daemon state at 1 when given, else 0. A creation moves the clock by two. */
  openMachine(
    account: AccountId,
    draft: { id: MachineId; metadata: Sealed; daemonState: Sealed | null; dataKey: Sealed | null; now: number },
    quotas?: Quotas
  ): Promise<{ machine: MachineRow; created: boolean; clock: number }>
  listMachines(account: AccountId): Promise<MachineRow[]>
  findMachine(account: AccountId, machine: MachineId): Promise<MachineRow | 'missing'>
}
