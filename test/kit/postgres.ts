import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Test } from 'tap'
import { lacks, pathOf } from './needs.ts'
import { portToKeep } from './port.ts'
import { runAtEnd } from './watcher.ts'

const run = promisify(execFile)
export const inMemory = '/dev/shm'

/** Why tests with PostgreSQL are skipped; false if they can run. */
export const lacksPostgres = lacks('postgresql')

export interface Postgres {
  /** A database, named by its URL: empty, or a copy of one that nobody is connected to. */
  makeDatabase(original?: string): Promise<string>
  /** Stops every process of it at once, as a crash does, and starts it again. */
  crash(): Promise<void>
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  start(): Promise<void>
  /** A replica without which nothing is confirmed from now on; `through` is a proxy that leads here. */
  addStandby(through: string): Promise<Standby>
  /** Runs SQL as its superuser. */
  query<Row>(sql: string, database?: string): Promise<Row[]>
  /** The URL of a database for its superuser. */
  urlOf(database: string): string
}

export interface Standby {
  /** Makes it a server that takes writes. */
  promote(): Promise<void>
  /** The URL of a database on it. */
  urlOf(database: string): string
}

/** A server of its own, with all defaults, in a temporary folder; removed after the test. In memory, unless it must be on a disk. */
export async function startPostgres(
  t: Pick<Test, 'teardown'>,
  settings: Record<string, string> = {},
  where: 'memory' | 'disk' = 'memory'
): Promise<Postgres> {
  const initdb = pathOf('initdb')
  if (initdb === undefined) throw new Error('initdb is missing: apt-get install postgresql')
  // A link to it may stand alone, without the other programs beside it.
  const programs = dirname(realpathSync(initdb))
  const folder = mkdtempSync(join(where === 'memory' && existsSync(inMemory) ? inMemory : tmpdir(), 'afield-postgres-'))
  const data = join(folder, 'data')
  const port = await portToKeep()
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? numbersOf('nobody') : undefined
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  const call = (program: string, ...args: string[]) => run(join(programs, program), args, { ...user, cwd: folder })

  const given = { port: `${port}`, unix_socket_directories: folder, listen_addresses: '127.0.0.1', ...settings }
  const options = optionsOf(given)
  const start = async () => {
    await call('pg_ctl', 'start', '-D', data, '-w', '-s', '-l', join(folder, 'log'), '-o', options)
  }
  const stop = async (mode: 'fast' | 'immediate' = 'fast') => {
    await call('pg_ctl', 'stop', '-D', data, '-w', '-s', '-m', mode)
  }
  const { run: end } = runAtEnd(ending, [join(programs, 'pg_ctl'), data, folder], user)
  t.teardown(end)
  await call('initdb', '-D', data, '-U', 'afield', '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync')
  await start()

  const urlOf = (database: string) => `postgres://afield@127.0.0.1:${port}/${database}`
  const query = async <Row>(sql: string, database = 'postgres'): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: urlOf(database) })
    // One that is stopped meanwhile has nothing to say.
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  return {
    async makeDatabase(original = urlOf('template1')) {
      const name = `test_${randomUUID().replaceAll('-', '')}`
      await query(`CREATE DATABASE ${name} TEMPLATE ${basename(original)} STRATEGY file_copy`)
      return urlOf(name)
    },
    async crash() {
      await stop('immediate')
      await start()
    },
    stop,
    start,
    async addStandby(through) {
      const [copy, at] = [join(folder, 'standby'), await portToKeep()]
      const { run: end } = runAtEnd(ending, [join(programs, 'pg_ctl'), copy, copy], user)
      t.teardown(end)
      const from = `host=127.0.0.1 port=${new URL(through).port} user=afield application_name=standby`
      await call('pg_basebackup', '-D', copy, '-d', from, '-R', '-X', 'stream', '-c', 'fast', '--no-sync')
      const options = optionsOf({ ...given, port: `${at}` })
      await call('pg_ctl', 'start', '-D', copy, '-w', '-s', '-l', join(folder, 'standby-log'), '-o', options)
      await query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
      await query('SELECT pg_reload_conf()')
      while ((await query("SELECT FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0);
      return {
        async promote() {
          await call('pg_ctl', 'promote', '-D', copy, '-w', '-s')
        },
        urlOf: database => `postgres://afield@127.0.0.1:${at}/${database}`
      }
    },
    query,
    urlOf
  }
}

// The folder is in memory, which it would fill.
const ending = `
[ -e "$1/postmaster.pid" ] && "$0" stop -D "$1" -w -s -m immediate
rm -rf "$2"`

function optionsOf(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}='${value}'`)
    .join(' ')
}

function numbersOf(user: string): { uid: number; gid: number } {
  const number = (flag: string) => Number(execFileSync('id', [flag, user], { encoding: 'utf8' }))
  return { uid: number('-u'), gid: number('-g') }
}
