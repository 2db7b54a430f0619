import type { AccountId, ArtifactId, KvKey, MachineId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { ActiveRows, ChangedRows, ChangeStore, Changes, ChangesAsk, StartOver } from '../../lib/store/changes.ts'
import type { RemovableRef } from '../../lib/store/rows.ts'
import type { Deps, Queries } from '../engine/deps.ts'
import { readEpoch } from '../engine/epoch.ts'
import { findArtifactHeads } from './artifacts.ts'
import { readSettings } from './cells.ts'
import { findKv } from './kv.ts'
import { findMachines } from './machines.ts'
import { findSessions } from './sessions.ts'

/** A page ends past this size, so that a few huge rows cannot fill the memory. */
const mostPageBytes = 4 * 1024 * 1024
/** Sessions, and machines, reported as active; for an account with more, only those seen last. */
const mostActive = 1_000

/** A change, and roughly how many bytes its row has. */
type Mark = { clock: number; bytes: number } & (
  | { of: 'session'; key: SessionId }
  | { of: 'machine'; key: MachineId }
  | { of: 'artifact'; key: ArtifactId }
  | { of: 'kv'; key: KvKey }
  | { of: 'settings' }
  | { of: 'removal'; row: RemovableRef }
)
/** The marks of one kind after a clock, in order: `limit` if there are that many, with all of their last clock. */
type Source = (queries: Queries, account: AccountId, since: number, limit: number) => Promise<Mark[]>

const inAccount = 'account = (SELECT key FROM account WHERE id = $1)'

/** The clocks of accounts, and what changed since one. */
export function changes({ read, snapshot }: Deps): Pick<ChangeStore, 'readClocks' | 'changesSince'> {
  return {
    readClocks: accounts => read(queries => readClocks(queries, accounts)),
    changesSince: (account, ask) => snapshot(queries => changesSince(queries, account, ask))
  }
}

async function readClocks(queries: Queries, accounts: readonly AccountId[]): Promise<Map<AccountId, number>> {
  const rows = await queries.all<{ id: AccountId; clock: number }>('SELECT id, clock FROM account WHERE id = ANY($1::text[])', [accounts])
  return new Map(rows.map(({ id, clock }) => [id, clock]))
}

async function changesSince(queries: Queries, account: AccountId, ask: ChangesAsk): Promise<Changes | StartOver> {
  const [epoch, { clock, forgotten }] = await Promise.all([readEpoch(queries), readBounds(queries, account)])
  const { since, began = since === 0 ? clock : since } = ask
  // A reader that starts from nothing has no removed rows.
  const removedSince = Math.max(since, began)
  const isContinued = ask.epoch === epoch && removedSince <= clock && removedSince >= forgotten
  if (since > 0 && !isContinued) return { complete: false, epoch, clock }

  const most = ask.limit + 1
  const [active, removals, ...marks] = await Promise.all([
    readActive(queries, account),
    removalSource(queries, account, removedSince, most),
    ...rowSources.map(source => source(queries, account, since, most))
  ])
  const { taken, more, end } = firstPage([...marks.flat(), ...removals], ask.limit)
  return {
    ...(await readRows(queries, account, taken)),
    complete: true,
    epoch,
    clock: more ? end : clock,
    began,
    more,
    active: more ? undefined : active
  }
}

async function readBounds(queries: Queries, account: AccountId): Promise<{ clock: number; forgotten: number }> {
  const row = await queries.get<{ clock: number; forgotten: number }>(
    'SELECT clock, forgotten_clock AS forgotten FROM account WHERE id = $1',
    [account]
  )
  return row ?? { clock: 0, forgotten: 0 }
}

/** Marks in order until the page is full, never splitting one clock; `end` is the last clock of it. */
function firstPage(marks: readonly Mark[], limit: number): { taken: Mark[]; more: boolean; end: number } {
  const taken: Mark[] = []
  let bytes = 0
  let end = 0
  for (const mark of marks.toSorted((one, other) => one.clock - other.clock)) {
    if (mark.clock > end && (taken.length >= limit || bytes > mostPageBytes)) return { taken, more: true, end }
    taken.push(mark)
    bytes += mark.bytes
    end = mark.clock
  }
  return { taken, more: false, end }
}

/** All kinds at once. */
async function readRows(queries: Queries, account: AccountId, marks: readonly Mark[]): Promise<ChangedRows> {
  const keysOf = <Of extends 'session' | 'machine' | 'artifact' | 'kv'>(of: Of) =>
    marks.flatMap(mark => (mark.of === of ? [mark.key as Extract<Mark, { of: Of }>['key']] : []))
  const [sessions, machines, artifacts, kv, settings] = await Promise.all([
    findSessions(queries, account, keysOf('session')),
    findMachines(queries, account, keysOf('machine')),
    findArtifactHeads(queries, account, keysOf('artifact')),
    findKv(queries, account, keysOf('kv')),
    marks.some(({ of }) => of === 'settings') ? readSettings(queries, account) : undefined
  ])
  return {
    sessions: inOrderOf(keysOf('session'), sessions, ({ id }) => id),
    machines: inOrderOf(keysOf('machine'), machines, ({ id }) => id),
    settings,
    artifacts: inOrderOf(keysOf('artifact'), artifacts, ({ id }) => id),
    kv: inOrderOf(keysOf('kv'), kv, ({ key }) => key),
    removed: marks.flatMap(mark => (mark.of === 'removal' ? [mark.row] : []))
  }
}

function inOrderOf<Key, Row>(keys: readonly Key[], rows: readonly Row[], keyOf: (row: Row) => Key): Row[] {
  const byKey = new Map(rows.map(row => [keyOf(row), row]))
  return keys.map(key => {
    const row = byKey.get(key)
    // The mark was read in this very snapshot.
    if (row === undefined) throw new Error('A row that changed is not there')
    return row
  })
}

const textIn = (...columns: string[]) => columns.map(column => `coalesce(octet_length(${column}), 0)`).join(' + ')

function sourceOf(of: 'machine' | 'artifact', bytes: string): Source {
  return listing(of, `SELECT clock, id AS key, ${bytes} AS bytes FROM ${of} WHERE ${inAccount} AND clock > $2 ORDER BY clock LIMIT $3`)
}

function listing(of: Mark['of'], sql: string): Source {
  return async (queries, account, since, limit) => {
    const rows = await queries.all<{ clock: number; key: string; bytes: number }>(sql, [account, since, limit])
    return rows.map(row => ({ of, ...row }) as Mark)
  }
}

// The first are found in the narrow rows.
const sessionSource = listing(
  'session',
  `SELECT clock, id AS key, ${textIn('metadata', 'agent_state')} AS bytes
   FROM (SELECT key, clock, id FROM session WHERE ${inAccount} AND clock > $2 ORDER BY clock LIMIT $3) AS session
   JOIN session_cells ON session_cells.session = session.key ORDER BY clock`
)
const settingsSource = listing(
  'settings',
  `SELECT settings_clock AS clock, ${textIn('settings')} AS bytes FROM account_cells WHERE ${inAccount} AND settings_clock > $2 LIMIT $3`
)

/** One write changes many keys at one clock; nothing else changes two rows at once. */
const kvSource: Source = async (queries, account, since, limit) => {
  const marks = await someKv(queries, account, since, limit)
  const last = marks.at(-1)
  if (marks.length < limit || !last) return marks
  // One more shows that there are more.
  return [...marks, ...(await someKv(queries, account, last.clock, 1))]
}
const someKv = listing(
  'kv',
  `SELECT clock, name AS key, ${textIn('value')} AS bytes FROM kv WHERE ${inAccount} AND clock > $2
   ORDER BY clock FETCH FIRST ($3) ROWS WITH TIES`
)

const rowSources: readonly Source[] = [
  sessionSource,
  sourceOf('machine', textIn('metadata', 'daemon_state')),
  settingsSource,
  sourceOf('artifact', textIn('header')),
  kvSource
]

const removalSource: Source = async (queries, account, since, limit) => {
  const rows = await queries.all<RemovableRef & { clock: number }>(
    `SELECT clock, kind AS "of", id FROM removed WHERE ${inAccount} AND clock > $2 ORDER BY clock LIMIT $3`,
    [account, since, limit]
  )
  return rows.map(({ clock, ...row }) => ({ of: 'removal', clock, row, bytes: row.id.length }))
}

async function readActive(queries: Queries, account: AccountId): Promise<ActiveRows> {
  const list = <Id>(table: 'session' | 'machine') =>
    queries.all<{ id: Id; activeAt: number }>(
      `SELECT id, active_at AS "activeAt" FROM ${table} WHERE ${inAccount} AND active ORDER BY active_at DESC LIMIT $2`,
      [account, mostActive]
    )
  const [sessions, machines] = await Promise.all([list<SessionId>('session'), list<MachineId>('machine')])
  return { sessions, machines }
}
