import type { Ephemeral } from '../../protocol/wire/ephemerals.ts'
import type { DeviceId, MachineId, Sealed, SessionId } from '../../protocol/wire/ids.ts'
import type { MachineRecord, SessionRecord } from '../../protocol/wire/records.ts'
import type { UpdateBody } from '../../protocol/wire/updates.ts'
import type { ChangedRows } from './change-reader.ts'
import {
  agentStateOf,
  daemonStateOf,
  furthest,
  latestPresence,
  metadataOf,
  newerAgentState,
  newerDaemonState,
  newerMetadata
} from './newer-versions.ts'

/** `seq` rises with each new message; `thinking` is the wrapper's last reported state while alive. */
export interface AccountSession extends SessionRecord {
  thinking: boolean
}

export interface SettingsCell {
  value: Sealed | null
  version: number
}

export type RowChange =
  | { type: 'session'; session: AccountSession }
  /** `at`, and `by` (a device), if it was received live. */
  | { type: 'session-removed'; id: SessionId; at?: number; by?: DeviceId | undefined }
  | { type: 'machine'; machine: MachineRecord }
  | { type: 'machine-removed'; id: MachineId }
  | { type: 'settings'; settings: SettingsCell }

interface Lists {
  sessions: readonly SessionRecord[]
  machines: readonly MachineRecord[]
  settings: SettingsCell
}

/** Received while lists or changes were being read. */
export class Meanwhile {
  /** Rows whose presence was received: what is read may be older. */
  readonly seen = new Set<string>()
  readonly added = new Set<string>()
  readonly removed = new Set<string>()
  /** Changes of rows that only the lists will bring. */
  readonly early: RowUpdate[] = []

  hear(body: RowUpdate, isKnown: boolean): void {
    switch (body.t) {
      case 'new-session':
      case 'new-machine':
        this.add(idOf(body))
        return
      case 'delete-session':
      case 'delete-machine':
        this.added.delete(idOf(body))
        this.removed.add(idOf(body))
        return
      default:
        if (!isKnown) this.early.push(body)
    }
  }

  add(id: string): void {
    this.removed.delete(id)
    this.added.add(id)
  }
}

/** An update of a row held here. Artifacts and keys are not. */
type RowUpdate = Exclude<UpdateBody, { artifactId: unknown } | { changes: unknown }>

export function isRowUpdate(body: UpdateBody): body is RowUpdate {
  return !('artifactId' in body || 'changes' in body)
}

/** The row an update is about. */
export function idOf(body: RowUpdate): string {
  if ('sid' in body) return body.sid
  return 'machineId' in body ? body.machineId : body.id
}

/** How many sessions the server lists; those beyond are not removed. */
export const mostListedSessions = 150

/**
 * The rows of an account, kept current from lists and updates in any order: nothing goes back to an
 * older version.
 */
export class AccountRows {
  readonly sessions = new Map<SessionId, AccountSession>()
  readonly machines = new Map<MachineId, MachineRecord>()
  settings: SettingsCell | undefined
  /** Rows dropped silently, until the next lists show what became of them. */
  readonly #forgotten = { sessions: new Set<SessionId>(), machines: new Set<MachineId>() }
  readonly #tell: (change: RowChange) => void

  constructor(tell: (change: RowChange) => void) {
    this.#tell = tell
  }

  /** False if it is about a session or machine that is unknown here. `at` is when it happened. */
  apply(body: RowUpdate, at?: number): boolean {
    switch (body.t) {
      case 'new-session':
        this.mergeSession(body)
        return true
      case 'update-session':
        return this.#changeSession(body.id, session => ({
          ...session,
          ...newerMetadata(session, metadataOf(body.metadata)),
          ...newerAgentState(session, agentStateOf(body.agentState))
        }))
      case 'new-message':
        return this.#changeSession(body.sid, session => ({
          ...session,
          seq: Math.max(session.seq, body.message.seq),
          updatedAt: Math.max(session.updatedAt, body.message.createdAt)
        }))
      case 'session-receipts':
        return this.#changeSession(body.sid, session => ({ ...session, ...furthest(session, body) }))
      case 'delete-session':
        this.#removeSession(body.sid, at === undefined ? {} : { at, by: body.by })
        return true
      case 'new-machine':
        this.mergeMachine({ ...body, id: body.machineId })
        return true
      case 'update-machine':
        return this.#changeMachine(body.machineId, machine => ({
          ...machine,
          ...newerMetadata(machine, metadataOf(body.metadata)),
          ...newerDaemonState(machine, daemonStateOf(body.daemonState))
        }))
      case 'delete-machine':
        this.#removeMachine(body.machineId)
        return true
      case 'update-account':
        if (body.settings) this.mergeSettings(body.settings)
        return true
    }
  }

  hearPresence(ephemeral: Ephemeral): void {
    switch (ephemeral.type) {
      case 'activity': {
        const { id, active, activeAt, thinking } = ephemeral
        this.#changeSession(id, session => (activeAt < session.activeAt ? session : { ...session, active, activeAt, thinking }))
        return
      }
      case 'machine-activity': {
        const { id, active, activeAt } = ephemeral
        this.#changeMachine(id, machine => (activeAt < machine.activeAt ? machine : { ...machine, active, activeAt }))
        return
      }
      case 'partial':
        return
    }
  }

  /** Merges lists read from the server, which may be older than what was received since the read began. */
  takeLists(lists: Lists, { added, removed, early }: Meanwhile): void {
    const isListed = ({ id }: { id: string }) => !removed.has(id)
    for (const session of lists.sessions.filter(isListed)) this.mergeSession(session)
    for (const machine of lists.machines.filter(isListed)) this.mergeMachine(machine)
    this.mergeSettings(lists.settings)
    this.#removeUnlisted(lists, added)
    this.#tellForgotten()
    for (const body of early) this.apply(body)
  }

  /** Merges changes since an earlier read, which may be older than what was received since. */
  takeChanges({ removed, sessions, machines, settings, active }: ChangedRows, meanwhile: Meanwhile): void {
    const wasAdded = ({ id }: { id: string }) => meanwhile.added.has(id)
    const isThere = ({ id }: { id: string }) => !meanwhile.removed.has(id)
    for (const row of removed) {
      if (wasAdded(row)) continue
      if (row.of === 'session') this.#removeSession(row.id)
      if (row.of === 'machine') this.#removeMachine(row.id)
    }
    for (const session of sessions.filter(isThere)) this.mergeSession(session)
    for (const machine of machines.filter(isThere)) this.mergeMachine(machine)
    if (settings) this.mergeSettings(settings)
    if (active) this.#takePresence(active, meanwhile)
    for (const body of meanwhile.early) this.apply(body)
  }

  /** Everything known is obsolete. Listeners are not notified until lists were merged. */
  forget(): void {
    for (const id of this.sessions.keys()) this.#forgotten.sessions.add(id)
    for (const id of this.machines.keys()) this.#forgotten.machines.add(id)
    this.sessions.clear()
    this.machines.clear()
    this.settings = undefined
  }

  mergeSession(row: SessionRecord): void {
    const known = this.sessions.get(row.id)
    const presence = latestPresence(row, known)
    this.#putSession({
      id: row.id,
      dataEncryptionKey: row.dataEncryptionKey,
      ...newerMetadata(row, known),
      ...newerAgentState(row, known),
      ...presence,
      seq: Math.max(row.seq, known?.seq ?? 0),
      ...furthest(row, known),
      createdAt: row.createdAt,
      updatedAt: Math.max(row.updatedAt, known?.updatedAt ?? 0),
      thinking: presence.active && (known?.thinking ?? false)
    })
  }

  mergeMachine(row: MachineRecord): void {
    const known = this.machines.get(row.id)
    this.#putMachine({
      id: row.id,
      dataEncryptionKey: row.dataEncryptionKey,
      ...newerMetadata(row, known),
      ...newerDaemonState(row, known),
      ...latestPresence(row, known),
      createdAt: row.createdAt,
      updatedAt: Math.max(row.updatedAt, known?.updatedAt ?? 0)
    })
  }

  mergeSettings(settings: SettingsCell): void {
    if (this.settings && settings.version <= this.settings.version) return
    this.settings = settings
    this.#tell({ type: 'settings', settings })
  }

  #removeUnlisted({ sessions, machines }: Lists, addedSince: ReadonlySet<string>): void {
    const listed = new Set<string>([...sessions, ...machines].map(row => row.id))
    const isGone = (id: string) => !listed.has(id) && !addedSince.has(id)
    const oldestListed = sessions.length < mostListedSessions ? -1 : Math.min(...sessions.map(session => session.updatedAt))

    for (const { id, updatedAt } of [...this.sessions.values()]) if (isGone(id) && updatedAt > oldestListed) this.#removeSession(id)
    for (const id of [...this.machines.keys()]) if (isGone(id)) this.#removeMachine(id)
  }

  #tellForgotten(): void {
    const { sessions, machines } = this.#forgotten
    for (const id of sessions) if (!this.sessions.has(id)) this.#tell({ type: 'session-removed', id })
    for (const id of machines) if (!this.machines.has(id)) this.#tell({ type: 'machine-removed', id })
    sessions.clear()
    machines.clear()
  }

  /** Presence does not move the clock: a row that is not listed here is not active. */
  #takePresence({ sessions, machines }: ChangedRows['active'] & {}, { seen, added }: Meanwhile): void {
    const activeAt = new Map<string, number>([...sessions, ...machines].map(row => [row.id, row.activeAt]))
    const now = <Row extends SessionRecord | MachineRecord>(row: Row): Row => {
      if (seen.has(row.id) || added.has(row.id)) return row
      const at = activeAt.get(row.id)
      return at === undefined ? { ...row, active: false } : { ...row, ...latestPresence({ active: true, activeAt: at }, row) }
    }
    for (const session of [...this.sessions.values()]) {
      const { active, ...rest } = now(session)
      this.#putSession({ ...rest, active, thinking: active && session.thinking })
    }
    for (const machine of [...this.machines.values()]) this.#putMachine(now(machine))
  }

  #changeSession(id: SessionId, change: (session: AccountSession) => AccountSession): boolean {
    const known = this.sessions.get(id)
    if (known) this.#putSession(change(known))
    return known !== undefined
  }

  #changeMachine(id: MachineId, change: (machine: MachineRecord) => MachineRecord): boolean {
    const known = this.machines.get(id)
    if (known) this.#putMachine(change(known))
    return known !== undefined
  }

  #putSession(session: AccountSession): void {
    if (isSame(this.sessions.get(session.id), session)) return
    this.sessions.set(session.id, session)
    this.#tell({ type: 'session', session })
  }

  #putMachine(machine: MachineRecord): void {
    if (isSame(this.machines.get(machine.id), machine)) return
    this.machines.set(machine.id, machine)
    this.#tell({ type: 'machine', machine })
  }

  #removeSession(id: SessionId, how: { at?: number; by?: DeviceId | undefined } = {}): void {
    if (this.sessions.delete(id)) this.#tell({ type: 'session-removed', id, ...how })
  }

  #removeMachine(id: MachineId): void {
    if (this.machines.delete(id)) this.#tell({ type: 'machine-removed', id })
  }
}

/** Rows are flat: text, numbers and booleans. */
function isSame<Row extends object>(one: Row | undefined, other: Row): boolean {
  return one !== undefined && Object.entries(other).every(([name, value]) => Reflect.get(one, name) === value)
}
