import type { AccountId, MachineId, Sealed, SessionId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'
import type { Conflict, MachineRow } from './rows.ts'

export interface MachineDraft {
  id: MachineId
  metadata: Sealed
  daemonState: Sealed | null
  dataKey: Sealed | null
  now: number
}

/** The computers of an account. */
export interface MachineStore {
  /** Metadata starts at version 1, the daemon state at 1 when given, else 0. A creation moves the clock by two. */
  openMachine(account: AccountId, draft: MachineDraft, quotas?: Quotas): Promise<{ machine: MachineRow; created: boolean; clock: number }>
  listMachines(account: AccountId): Promise<MachineRow[]>
  findMachine(account: AccountId, machine: MachineId): Promise<MachineRow | 'missing'>
}

/** What identifies an access key: there is one for a session on a machine. */
export interface AccessKeyRef {
  session: SessionId
  machine: MachineId
}

export interface AccessKeyRow {
  data: Sealed
  dataVersion: number
  createdAt: number
  updatedAt: number
}

/** `missing`: the account has no such session, or no such machine. The key is removed with either. */
export interface AccessKeyStore {
  findAccessKey(account: AccountId, of: AccessKeyRef): Promise<AccessKeyRow | 'none' | 'missing'>
  /** Creates the key at version 1. */
  addAccessKey(
    account: AccountId,
    of: AccessKeyRef,
    data: Sealed,
    now: number,
    quotas?: Quotas
  ): Promise<AccessKeyRow | 'taken' | 'missing'>
  /** Writes only with the expected version and increments it; otherwise returns the current value. */
  writeAccessKey(
    account: AccountId,
    of: AccessKeyRef,
    expected: number,
    data: Sealed,
    now: number,
    quotas?: Quotas
  ): Promise<{ written: true; version: number } | Conflict | 'none' | 'missing'>
}

/** A machine as a database returns it; SQLite has no booleans. */
export interface FlatMachine extends Omit<MachineRow, 'metadata' | 'daemonState' | 'active'> {
  metadata: Sealed | null
  metadataVersion: number
  daemonState: Sealed | null
  daemonStateVersion: number
  active: boolean | number
}

export function machineOf({ metadata, metadataVersion, daemonState, daemonStateVersion, active, ...row }: FlatMachine): MachineRow {
  return {
    ...row,
    metadata: { version: metadataVersion, value: metadata },
    daemonState: { version: daemonStateVersion, value: daemonState },
    active: Boolean(active)
  }
}

/** What a draft is once it is stored. */
export function openedMachine({ id, metadata, daemonState, dataKey, now }: MachineDraft): MachineRow {
  return {
    id,
    metadata: { version: 1, value: metadata },
    daemonState: { version: daemonState === null ? 0 : 1, value: daemonState },
    dataKey,
    active: false,
    activeAt: now,
    createdAt: now,
    updatedAt: now
  }
}

export function accessKeyConflict({ data, dataVersion }: AccessKeyRow): Conflict {
  return { written: false, current: { version: dataVersion, value: data } }
}
