import { statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { CommitQueue } from '../../../sqlite/engine/commit-queue.ts'
import { openLog } from '../../../sqlite/file/log.ts'

const mib = 1024 * 1024

t.test('while another program reads endlessly the WAL grows to its bound, and shrinks once that program ends [F7]', async t => {
  const { file, log, write, remove, pass } = setUp(t)
  const reader = new Database(file, { readonly: true })
  t.teardown(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM kept').get()

  const refusal = await writeUntilRefused(write, log.look)
  t.match(refusal, { name: 'StoreBusy' })
  t.ok(log.bytes() < 6 * mib, `${log.bytes()} bytes`)
  t.equal(log.bytes(), statSync(`${file}-wal`).size)
  await remove()
  const stuckSince = log.movedAt()
  pass(60_000)
  log.look()
  t.equal(log.movedAt(), stuckSince)

  reader.exec('COMMIT')
  log.look()
  t.equal(log.movedAt(), stuckSince + 60_000)
  await write()
  await write()
})

t.test('without such a program nothing is ever rejected [F7]', async t => {
  const { log, write } = setUp(t)
  for (let number = 0; number < 100; number += 1) {
    await write()
    log.look()
  }
  t.equal(log.isTooLong(), false)
})

function setUp(t: Test) {
  const file = join(t.testdir(), 'log.db')
  const database = new Database(file)
  t.teardown(() => database.close())
  database.pragma('journal_mode = WAL')
  database.exec('CREATE TABLE kept (text TEXT)')
  let now = 1_000
  const log = openLog(database, () => now, 4 * mib)
  const queue = new CommitQueue({ database, onBroken: reason => t.fail(reason.message), log })
  const insert = database.prepare('INSERT INTO kept (text) VALUES (?)')
  const removeAll = database.prepare('DELETE FROM kept WHERE rowid = 1')
  const large = 'x'.repeat(100_000)
  return {
    file,
    log,
    write: () => queue.write(() => insert.run(large), { bytes: large.length }),
    remove: () => queue.write(() => removeAll.run()),
    pass: (ms: number) => {
      now += ms
    }
  }
}

async function writeUntilRefused(write: () => Promise<unknown>, look: () => void): Promise<unknown> {
  for (let number = 0; number < 200; number += 1) {
    try {
      await write()
    } catch (error) {
      return error
    }
    look()
  }
  return undefined
}
