import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import type { CurveName } from '../docs/curves.ts'
import type { AccountId, LocalId, Sealed, SessionId } from '../lib/protocol/wire/ids.ts'
import { openStore } from '../lib/store/open.ts'
import type { Store } from '../lib/store/store.ts'
import { inMemory } from '../test/kit/postgres.ts'
import { median } from './kit/compare.ts'
import { type Engines, startEngines } from './kit/engines.ts'
import { type Amounts, accountName, accountOf, type Filling, fill, sessionName, textOf } from './kit/fill.ts'
import { recordPoints } from './kit/points.ts'
import { cpuUs } from './kit/process.ts'

/**
 * The processor time of the store for appending a message and for reading the newest page, however much is stored already. Stores
 * of all sizes are measured in turns; each figure is compared with that of the smallest.
 *
 *   --max N     the most messages; 1,000,000 unless given. Ten million need 20 GB of disk
 *   --only …    accounts, sessions or history
 *   --record    for the curves of docs/benchmarks.md
 */
const { values: given } = parseArgs({
  options: { max: { type: 'string', default: '1000000' }, only: { type: 'string' }, record: { type: 'boolean', default: false } }
})
const most = Number(given.max)
// Only processor time is measured, so the disk matters to nobody; but ten million messages do not fit into memory.
const where = most > 1_000_000 ? 'disk' : 'memory'

const rounds = 5
const textBytes = 400
const pageSize = 100
const appends = 960
const reads = 200
const appendsAtOnce = 32

/** `atOnce` sessions are written in a turn at each size: with fewer of them, a turn has fewer counters to write. */
const series: { title: CurveName; sizes: number[]; atOnce: number; amountsOf(size: number): Amounts }[] = [
  { title: 'accounts', sizes: [10, 1_000, 100_000], atOnce: 8, amountsOf: n => ({ accounts: n, sessions: n, messages: n }) },
  { title: 'sessions', sizes: [100, 1_000, 10_000], atOnce: 8, amountsOf: n => ({ accounts: 1, sessions: n, messages: n }) },
  {
    title: 'history',
    sizes: [1_000, 10_000, 100_000, 1_000_000, 10_000_000],
    atOnce: 4,
    amountsOf: n => ({ accounts: 4, sessions: 4, messages: n })
  }
]

interface Grown {
  size: number
  store: Store
  amounts: Amounts
  /** Sessions that have a page of messages from the store itself. */
  readable: number[]
}
interface Cost {
  append: number
  read: number
}
type Driver = 'SQLite' | 'PostgreSQL'

await main()

async function main(): Promise<void> {
  const engines = await startEngines(where)
  const folder = mkdtempSync(join(where === 'memory' && existsSync(inMemory) ? inMemory : tmpdir(), 'afield-growth-'))
  try {
    console.log(
      `growth: ${textBytes} bytes of sealed text, ${appendsAtOnce} appends at once, pages of ${pageSize}; µs of CPU for each, median of ${rounds}, and their ratio to the smallest`
    )
    for (const { title, sizes, atOnce, amountsOf } of series) {
      if (given.only !== undefined && given.only !== title) continue
      for (const driver of ['SQLite', 'PostgreSQL'] as const) {
        const grown: Grown[] = []
        for (const size of sizes.filter(size => size <= most)) grown.push(await grow(driver, size, amountsOf(size)))
        await measure(title, driver, grown, atOnce)
        for (const { store } of grown) await store.close()
        rmSync(folder, { recursive: true })
        mkdirSync(folder)
        // Those of the next series must not be measured while these are being written to disk.
        await engines.postgres.query('CHECKPOINT')
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    await engines.close()
  }

  async function grow(driver: Driver, size: number, amounts: Amounts): Promise<Grown> {
    const data = join(folder, `${driver}-${size}`)
    const url = driver === 'SQLite' ? 'sqlite:afield.db' : await engines.postgres.makeDatabase()
    const open = () => openStore(url, { dataDirectory: data, onBroken: fail })
    // Its first start makes the tables.
    await (await open()).close()
    const beganAt = performance.now()
    await (driver === 'SQLite' ? fillSqlite(join(data, 'afield.db'), amounts) : fillPostgres(engines, basename(url), amounts))
    if (size >= 100_000) console.log(`  ${driver}: ${size.toLocaleString('en')} in ${Math.round((performance.now() - beganAt) / 1_000)} s`)
    const store = await open()
    const readable = Array.from({ length: Math.min(amounts.sessions, 50) }, (_, index, step = amounts.sessions / 50) =>
      Math.floor(1 + index * Math.max(1, step))
    )
    await Promise.all(readable.map(session => append(store, amounts, session, pageSize + 1)))
    return { size, store, amounts, readable }
  }

  async function measure(title: CurveName, driver: Driver, grown: readonly Grown[], atOnce: number): Promise<void> {
    const spent = () => cpuUs() + (driver === 'PostgreSQL' ? engines.cpuUs().postgres : 0)
    const costs = grown.map((): Cost[] => [])
    for (let round = -1; round < rounds; round++) {
      for (const [at, one] of grown.entries()) {
        const cost = {
          append: await costOf(spent, appends, () => appendAll(one, atOnce)),
          read: await costOf(spent, reads, () => readAll(one))
        }
        // The first round compiles the code and plans the statements.
        if (round >= 0) costs[at]?.push(cost)
      }
    }
    const record = given.record ? recordPoints(title) : () => {}
    for (const [at, { size }] of grown.entries()) {
      const shown = (name: keyof Cost) => {
        const all = costs[at]?.map(cost => cost[name]) ?? []
        const ratio = median(all.map((figure, round) => figure / (costs[0]?.[round]?.[name] ?? Number.NaN)))
        record(`${driver}, ${name === 'append' ? 'append' : 'newest page'}`, size, median(all))
        return `${median(all).toFixed(1).padStart(8)} µs  ×${ratio.toFixed(2)}`
      }
      console.log(
        `  ${`${driver.padEnd(10)} ${title}`.padEnd(20)}${size.toLocaleString('en').padStart(12)}   append ${shown('append')}   newest page ${shown('read')}`
      )
    }
  }
}

async function costOf(spent: () => number, pieces: number, work: () => Promise<void>): Promise<number> {
  const before = spent()
  await work()
  return (spent() - before) / pieces
}

async function appendAll({ store, amounts }: Grown, atOnce: number): Promise<void> {
  for (let left = appends; left > 0; left -= appendsAtOnce) {
    const sessions = [...differentOnes(atOnce, amounts.sessions)]
    await Promise.all(Array.from({ length: appendsAtOnce }, (_, index) => append(store, amounts, sessions[index % atOnce] ?? 1, 1)))
  }
}

function differentOnes(count: number, of: number): Set<number> {
  const picked = new Set<number>()
  while (picked.size < count) picked.add(1 + Math.floor(Math.random() * of))
  return picked
}

async function readAll({ store, amounts, readable }: Grown): Promise<void> {
  for (let number = 0; number < reads; number++) {
    const session = readable[number % readable.length] ?? 1
    const page = await store.readMessages(...namesOf(session, amounts), { before: Number.MAX_SAFE_INTEGER, limit: pageSize })
    if (page === 'missing' || page.messages.length !== pageSize) throw new Error('A page is missing')
  }
}

async function append(store: Store, amounts: Amounts, session: number, messages: number): Promise<void> {
  const sealed = textOf(textBytes) as Sealed
  const drafts = Array.from({ length: messages }, () => ({ localId: crypto.randomUUID() as LocalId, sealed }))
  const answer = await store.appendMessages(...namesOf(session, amounts), drafts, Date.now())
  if (typeof answer === 'string') throw new Error(`An append was answered "${answer}"`)
}

function namesOf(session: number, amounts: Amounts): [AccountId, SessionId] {
  return [accountName(accountOf(session, amounts)) as AccountId, sessionName(session) as SessionId]
}

async function fillSqlite(file: string, amounts: Amounts): Promise<void> {
  const database = new Database(file)
  database.pragma('synchronous = OFF')
  const filling: Filling = {
    run: async sql => void database.exec(sql),
    value: async sql => String(database.prepare(sql).pluck().get()),
    newLocalId: 'lower(hex(randomblob(18)))',
    indexDefinition: name => `SELECT sql FROM sqlite_master WHERE name = '${name}'`
  }
  await fill(filling, amounts, textBytes)
  database.close()
}

async function fillPostgres({ postgres }: Engines, database: string, amounts: Amounts): Promise<void> {
  const filling: Filling = {
    run: async sql => void (await postgres.query(sql, database)),
    value: async sql => (await postgres.query<{ value: string }>(sql, database))[0]?.value ?? '',
    newLocalId: 'gen_random_uuid()::text',
    indexDefinition: name => `SELECT indexdef AS value FROM pg_indexes WHERE indexname = '${name}'`
  }
  await fill(filling, amounts, textBytes)
  await postgres.query('VACUUM (ANALYZE)', database)
  await postgres.query('CHECKPOINT')
}

function fail(reason: Error): never {
  throw reason
}
