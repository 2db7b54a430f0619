import { mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { readMigrations } from '../../lib/store/migrate.ts'
import { openDatabase } from '../../sqlite/file/database.ts'

// Upgrades the schema of a database on the given small disk, on which the copy fits not at all, half or nearly, and
// then once it has space; reports as one line of JSON.
const disk = process.argv[2] ?? ''
const data = join(disk, 'data')
const ballast = join(disk, 'ballast')
const file = join(data, 'afield.db')
const all = readMigrations('sqlite/')
const old = 12
const open = (steps: number) => openDatabase(file, { dataDirectory: data, migrations: all.slice(0, steps), clock: () => 1 })

mkdirSync(data, { mode: 0o700 })
const { database, close } = await open(old)
database.exec("INSERT INTO account (id, public_key, created_at) VALUES ('ann', 'key', 1)")
const insert = database.prepare('INSERT INTO message (account, session, seq, created_at, sealed) VALUES (1, 1, ?, 1, ?)')
for (let seq = 1; seq <= 400; seq++) insert.run(seq, 'x'.repeat(20_000))
close()

const copyBytes = 400 * 20_480
const refusals: unknown[] = []
const schemas: unknown[] = []
const leftovers: string[][] = []
for (const free of [64 * 1024, copyBytes / 2, copyBytes - 64 * 1024]) {
  leaveFree(free)
  const refused = await open(all.length).then(
    ({ close }) => close(),
    error => ({ message: error.message, exitCode: error.exitCode })
  )
  if (refused) refusals.push(refused)
  schemas.push(look('PRAGMA user_version'))
  leftovers.push(readdirSync(data).filter(name => name.startsWith('before-')))
  rmSync(ballast)
}
const flaw = look('PRAGMA integrity_check')
const accounts = look('SELECT count(*) FROM account')
;(await open(all.length)).close()
const after = {
  schema: look('PRAGMA user_version'),
  accounts: look('SELECT count(*) FROM account'),
  kept: readdirSync(data).filter(name => name.startsWith('before-'))
}
console.log(JSON.stringify({ refusals, schemas, leftovers, flaw, accounts, after }))

function leaveFree(bytes: number): void {
  const { bavail, bsize } = statfsSync(disk)
  writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - bytes)))
}

function look(sql: string): unknown {
  const seen = new Database(file, { readonly: true })
  try {
    return seen.prepare(sql).pluck().get()
  } finally {
    seen.close()
  }
}
