import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { version } from '../../lib/assets.ts'
import { examineDatabase, examineServer, findServing } from '../../lib/doctor/store.ts'
import { openLocalSocket } from '../../lib/local-socket/open.ts'
import { controlFile } from '../../lib/server/control/socket.ts'
import { readMigrations } from '../../lib/store/migrate.ts'
import { openStore } from '../../lib/store/open.ts'

const noSockets = { skip: process.platform === 'win32' && 'no control socket on Windows' }
const healthy = { version: version(), pid: 7, hasAccounts: true }

/** A data directory whose server gives this status, or refuses. */
async function serverThat(t: Test, answer: () => object): Promise<string> {
  const directory = t.testdir()
  const socket = await openLocalSocket({
    directory,
    file: controlFile,
    answer: async () => answer(),
    refusalOf: () => ({ says: 'It is closing.', exitCode: 69 }),
    onError: error => t.fail(String(error))
  })
  t.teardown(() => socket.close())
  return directory
}

t.test('each fault of a running server is one line, with what to do', noSockets, async t => {
  const now = { status: healthy as object }
  const data = await serverThat(t, () => now.status)
  const rows = { scrubbed: 12, rounds: 1, damaged: 0, isFull: false, logBytes: 0, logMovedAt: 0 }
  const taken = { ok: 0, failed: 0 }
  const goodAt = Date.UTC(2026, 4, 1)
  for (const [more, of, state, says, advice] of [
    [{}, 'server', 'ok', `running, version ${version()}, process 7`],
    [{ version: '9.9.9' }, 'server', 'warn', `version 9.9.9 is running, this is ${version()}`, /Restart the server/],
    [{ soundness: rows }, 'stored rows', 'ok', 'all match their checksums'],
    [{ soundness: { ...rows, rounds: 0 } }, 'stored rows', 'ok', '12 match their checksums so far'],
    [{ soundness: { ...rows, damaged: 2, isFull: true } }, 'stored rows', 'fail', '2 rows are damaged', /restore a backup/],
    [{ soundness: { ...rows, isFull: true } }, 'stored rows', 'fail', 'the disk is full: writes are rejected', /Free some space/],
    [{ backups: { last: 'none', taken } }, 'backups', 'ok', 'none taken yet'],
    [
      { backups: { last: 'ok', goodAt, taken } },
      'backups',
      'ok',
      'the last good one is from 2026-05-01T00:00:00.000Z, verified by restoring it'
    ],
    [
      { backups: { last: 'failed', goodAt, taken } },
      'backups',
      'fail',
      'the last one failed; the last good one is from 2026-05-01T00:00:00.000Z',
      /--backup-to/
    ],
    [{ backups: { last: 'failed', taken } }, 'backups', 'fail', 'the last one failed; none taken yet', /--backup-to/]
  ] as const) {
    now.status = { ...healthy, ...more }
    const findings = await examineServer({ data })
    t.equal(findings.length, of === 'server' ? 1 : 2)
    t.hasStrict(
      findings.find(finding => finding.of === of),
      { state, says }
    )
    t.match(findings.find(finding => finding.of === of)?.advice ?? '', advice ?? /^$/)
  }
})

t.test('a server that does not answer as it should is a fault, and may still run', noSockets, async t => {
  const closing = await serverThat(t, () => {
    throw new Error('closing')
  })
  t.match(await examineServer({ data: closing }), [{ of: 'server', state: 'fail', says: 'It is closing.', advice: 'See its log' }])
  t.same(await findServing(closing), { mayRun: true })
  const serving = await serverThat(t, () => ({ ...healthy, serving: { url: 'https://home.example', signup: 'closed' } }))
  t.same(await findServing(serving), { mayRun: true, url: 'https://home.example' })
  const none = t.testdir()
  t.match(await examineServer({ data: none }), [{ state: 'warn', says: 'not running on this directory', advice: /serve|systemctl/ }])
  t.match(await findServing(none), { mayRun: false, url: undefined })
})

t.test('a database is reported as whole, or with what is wrong and what to do', async t => {
  const options = { data: t.testdir(), store: 'sqlite:afield.db' }
  const file = join(options.data, 'afield.db')
  const examine = () => examineDatabase(options)
  t.strictSame(await examine(), {
    of: 'database',
    state: 'warn',
    says: 'there is none yet',
    advice: 'It is created when the server starts'
  })
  await (await openStore(options.store, { dataDirectory: options.data, onBroken: ({ message }) => t.fail(message) })).close()
  const change = (sql: string) => {
    const database = new Database(file)
    database.exec(sql)
    database.close()
  }
  const newest = readMigrations('sqlite/').length
  t.strictSame(await examine(), { of: 'database', state: 'ok', says: `whole, schema ${newest}` })
  change(`PRAGMA user_version = ${newest - 1}`)
  t.strictSame(await examine(), {
    of: 'database',
    state: 'ok',
    says: `intact; schema ${newest - 1} is upgraded to ${newest} at the next start`
  })
  change(`PRAGMA user_version = ${newest + 1}`)
  t.match(await examine(), {
    state: 'fail',
    says: `schema ${newest + 1} is newer than this program (${newest})`,
    advice: 'Install that version or a later one'
  })
  writeFileSync(file, Buffer.alloc(20_000, 'no database'))
  t.match(await examine(), {
    state: 'fail',
    says: 'it cannot be read (SQLITE_NOTADB)',
    advice: 'Restore a backup, or give the right file with --store'
  })
})

t.test('a database of PostgreSQL that cannot be reached is reported with where to look', async t => {
  const found = await examineDatabase({ data: t.testdir(), store: 'postgres://ann:secret@127.0.0.1:1/afield' })
  t.match(found, { of: 'database', state: 'fail', advice: 'Check the server of the database, and the URL of --store' })
  t.notMatch(found.says, 'secret')
  t.notMatch(found.says, /\.$/)
})
