import { join } from 'node:path'
import Database from 'better-sqlite3'
import t from 'tap'
import { openSqliteStore } from '../../../sqlite/store.ts'

t.test('a store prepares its statements when they first run, not at its start', async t => {
  const { prepare } = Database.prototype
  t.teardown(() => {
    Database.prototype.prepare = prepare
  })
  const prepared: string[] = []
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    prepared.push(sql)
    return prepare.call(this, sql)
  } as typeof prepare

  const dataDirectory = t.testdir()
  const open = () => openSqliteStore(join(dataDirectory, 'afield.db'), { dataDirectory, onBroken: () => {}, clock: Date.now })
  await (await open()).close()
  prepared.length = 0
  const store = await open()
  t.ok(prepared.length < 20, `${prepared.length} statements`)

  const reads = () => prepared.filter(sql => sql.includes('settings_version AS version')).length
  const account = 'nobody' as Parameters<typeof store.readSettings>[0]
  t.equal(reads(), 0)
  for (const _ of [1, 2]) await store.readSettings(account)
  t.equal(reads(), 1, 'and once')
  await store.close()
})
