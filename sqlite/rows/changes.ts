import type { Database } from 'better-sqlite3'
import type { AccountId, ArtifactId, KvKey, MachineId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { ActiveRows, ChangedRows, ChangeStore, Changes, ChangesAsk, StartOver } from '../../lib/store/changes.ts'
import type { Cell, RemovableRef } from '../../lib/store/rows.ts'
import type { Deps } from '../engine/deps.ts'
import { readEpoch } from '../engine/epoch.ts'
import { findArtifactHead } from './artifacts.ts'
import { findKv } from './kv.ts'
import { findMachine } from './machines.ts'
import { findSession } from './sessions.ts'

/** A page ends past this size, so that a few huge rows cannot fill the memory. */
const mostPageBytes = 4 * 1024 * 1024
/** Sessions, and machines, reported as active; for an account with more, only those seen last. */
const mostActive = 1_000

/** A change: where it is, and how it is added to a page. */
interface Mark {
  clock: number
  /** Returns roughly how many bytes it added. */
  addTo(page: ChangedRows): number
}
/**
 * The marks of one kind after a clock, in order: `limit` if there are that many, with all of their
 * last clock.
 */
type Source = (account: AccountId, since: number, limit: number) => Mark[]

const accountKey = '(SELECT key FROM account WHERE id = ?)'

/** The clocks of accounts, and what changed since one. */
export function changes({ database, queue }: Deps): Pick<ChangeStore, 'readClocks' | 'changesSince'> {
  const epoch = readEpoch(database)
  const bounds = database.prepare<[AccountId], { clock: number; forgotten: number }>(
    'SELECT clock, forgotten_clock AS forgotten FROM account WHERE id = ?'
  )
  const rowSources = [sessionSource, machineSource, settingsSource, artifactSource, kvSource].map(source => source(database))
  const removals = removalSource(database)
  const activeRows = findActive(database)

  function readClocks(accounts: readonly AccountId[]): Map<AccountId, number> {
    const clocks = new Map<AccountId, number>()
    for (const account of accounts) {
      const row = bounds.get(account)
      if (row) clocks.set(account, row.clock)
    }
    return clocks
  }

  function changesSince(account: AccountId, ask: ChangesAsk): Changes | StartOver {
    const { clock, forgotten } = bounds.get(account) ?? { clock: 0, forgotten: 0 }
    const { since, began = since === 0 ? clock : since } = ask
    // A reader that starts from nothing has no removed rows.
    const removedSince = Math.max(since, began)
    const isContinued = ask.epoch === epoch() && removedSince <= clock && removedSince >= forgotten
    if (since > 0 && !isContinued) return { complete: false, epoch: epoch(), clock }

    const most = ask.limit + 1
    const marks = [...rowSources.flatMap(source => source(account, since, most)), ...removals(account, removedSince, most)]
    const page: ChangedRows = { sessions: [], machines: [], settings: undefined, artifacts: [], kv: [], removed: [] }
    const end = fill(page, marks, ask.limit)
    const more = end !== undefined
    return { ...page, complete: true, epoch: epoch(), clock: end ?? clock, began, more, active: more ? undefined : activeRows(account) }
  }

  return {
    readClocks: accounts => queue.read(() => readClocks(accounts)),
    changesSince: (account, ask) => queue.read(() => changesSince(account, ask))
  }
}

/** Adds marks in order until the page is full, never splitting one clock; returns the last clock of it if there are more. */
function fill(page: ChangedRows, marks: Mark[], limit: number): number | undefined {
  let rows = 0
  let bytes = 0
  let end = 0
  for (const mark of marks.sort((one, other) => one.clock - other.clock)) {
    if (mark.clock > end && (rows >= limit || bytes > mostPageBytes)) return end
    bytes += mark.addTo(page)
    rows += 1
    end = mark.clock
  }
  return undefined
}

interface Place {
  table: string
  /** What identifies a row of the account. */
  key: string
  clock?: string
}

function sourceOf<Key>(
  database: Database,
  { table, key, clock = 'clock' }: Place,
  add: (account: AccountId, key: Key, page: ChangedRows) => number
): Source {
  const list = database.prepare<[AccountId, number, number], { clock: number; key: Key }>(
    `SELECT ${clock} AS clock, ${key} AS key FROM ${table} WHERE account = ${accountKey} AND ${clock} > ? ORDER BY ${clock} LIMIT ?`
  )
  return (account, since, limit) =>
    list.all(account, since, limit).map(({ clock, key }) => ({ clock, addTo: page => add(account, key, page) }))
}

function sessionSource(database: Database): Source {
  const find = findSession(database)
  return sourceOf<SessionId>(database, { table: 'session', key: 'id' }, (account, id, { sessions }) => {
    const row = found(find(account, id))
    sessions.push(row)
    return lengthOf(row.metadata.value) + lengthOf(row.agentState.value)
  })
}

function machineSource(database: Database): Source {
  const find = findMachine(database)
  return sourceOf<MachineId>(database, { table: 'machine', key: 'id' }, (account, id, { machines }) => {
    const row = found(find(account, id))
    machines.push(row)
    return lengthOf(row.metadata.value) + lengthOf(row.daemonState.value)
  })
}

function settingsSource(database: Database): Source {
  const read = database.prepare<[AccountId], Cell>(
    `SELECT settings_version AS version, settings AS value FROM account_cells WHERE account = ${accountKey}`
  )
  return sourceOf<number>(database, { table: 'account_cells', key: 'account', clock: 'settings_clock' }, (account, _, page) => {
    page.settings = found(read.get(account))
    return lengthOf(page.settings.value)
  })
}

function artifactSource(database: Database): Source {
  const find = findArtifactHead(database)
  return sourceOf<ArtifactId>(database, { table: 'artifact', key: 'id' }, (account, id, { artifacts }) => {
    const row = found(find(account, id))
    artifacts.push(row)
    return lengthOf(row.header.value)
  })
}

/** One write changes many keys at one clock; nothing else changes two rows at once. */
function kvSource(database: Database): Source {
  const find = findKv(database)
  const add = (account: AccountId, key: KvKey, { kv }: ChangedRows): number => {
    const row = found(find(account, key))
    kv.push(row)
    return lengthOf(row.value)
  }
  const some = sourceOf<KvKey>(database, { table: 'kv', key: 'name' }, add)
  const keysAt = database.prepare<[AccountId, number], KvKey>(`SELECT name FROM kv WHERE account = ${accountKey} AND clock = ?`).pluck()

  return (account, since, limit) => {
    const marks = some(account, since, limit)
    const last = marks.at(-1)
    if (marks.length < limit || !last) return marks
    const { clock } = last
    const whole = keysAt.all(account, clock).map(key => ({ clock, addTo: (page: ChangedRows) => add(account, key, page) }))
    // The extra one shows that there are more, and is never added to the page.
    return [...marks.filter(mark => mark.clock < clock), ...whole, ...some(account, clock, 1)]
  }
}

function removalSource(database: Database): Source {
  const list = database.prepare<[AccountId, number, number], RemovableRef & { clock: number }>(
    `SELECT clock, kind AS "of", id FROM removed WHERE account = ${accountKey} AND clock > ? ORDER BY clock LIMIT ?`
  )
  return (account, since, limit) =>
    list.all(account, since, limit).map(({ clock, ...row }) => ({ clock, addTo: ({ removed }) => removed.push(row) && row.id.length }))
}

function findActive(database: Database): (account: AccountId) => ActiveRows {
  const list = <Id>(table: 'session' | 'machine') =>
    database.prepare<[AccountId, number], { id: Id; activeAt: number }>(
      `SELECT id, active_at AS activeAt FROM ${table} WHERE account = ${accountKey} AND active = 1 ORDER BY active_at DESC LIMIT ?`
    )
  const sessions = list<SessionId>('session')
  const machines = list<MachineId>('machine')
  return account => ({ sessions: sessions.all(account, mostActive), machines: machines.all(account, mostActive) })
}

// The mark was read in this very turn.
function found<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Error('A row that changed is not there')
  return row
}

function lengthOf(text: string | null): number {
  return text?.length ?? 0
}
