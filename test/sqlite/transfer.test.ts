import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openStore, openTransfer } from '../../lib/store/open.ts'
import { safekeepingOf } from '../../lib/store/safekeeping.ts'
import { type Transfer, type TransferRow, transferRows, transferTable, transferTables } from '../../lib/store/transfer.ts'
import { openSqliteTransfer } from '../../sqlite/transfer.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import { found, newAccount } from '../store/contract/kit.ts'
import { transferContract } from '../transfer/contract.ts'
import { fill } from '../transfer/filled-store.ts'

async function emptyStore(t: Test): Promise<{ data: string; file: string; transfer: Transfer }> {
  const data = memoryFolder(t)
  const file = join(data, 'afield.db')
  const transfer = await openSqliteTransfer(file, data)
  t.teardown(() => transfer.close())
  return { data, file, transfer }
}

async function filledStore(t: Test): Promise<{ file: string; data: string; transfer: () => Promise<Transfer> }> {
  const data = memoryFolder(t)
  await fill(data)
  return {
    data,
    file: join(data, 'afield.db'),
    async transfer() {
      const transfer = await openTransfer('sqlite:afield.db', data)
      t.teardown(() => transfer.close())
      return transfer
    }
  }
}

async function rowsOf(transfer: Transfer): Promise<Record<string, TransferRow[]>> {
  const rows: Record<string, TransferRow[]> = {}
  for (const table of transferTables) rows[table.name] = await Array.fromAsync(transferRows(transfer, table))
  return rows
}

const change = (file: string, sql: string) => new Database(file).exec(sql).close()

const messages = transferTable('message')

transferContract(t, async t => (await emptyStore(t)).transfer)

t.test('a store written into another has the same rows there, with checksums, and can be served', async t => {
  const { transfer: open } = await filledStore(t)
  const from = await open()
  const { data, file, transfer: to } = await emptyStore(t)
  const before = await rowsOf(from)
  change(file, 'DELETE FROM epoch; DELETE FROM legacy_hold')
  for (const table of transferTables) {
    await to.write(table, before[table.name] ?? [])
    t.equal(await to.count(table), before[table.name]?.length, table.name)
  }
  t.same(await rowsOf(to), before)
  await to.continueAfter(await from.lastKeys())
  t.same(await to.lastKeys(), await from.lastKeys())
  await to.close()

  const database = new Database(file, { readonly: true })
  for (const table of ['message', 'attachment_piece', 'session_cells', 'machine', 'account_cells', 'kv', 'artifact', 'access_key'])
    t.equal(database.prepare(`SELECT count(*) FROM ${table} WHERE crc IS NULL`).pluck().get(), 0, `${table} has checksums`)
  database.close()
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  t.teardown(() => store.close())
  const { flaws } = await safekeepingOf(store).inspect()
  t.same(
    flaws.filter(flaw => / is not what was stored$/.test(flaw)),
    []
  )
  const ann = (await store.listAccounts())[0]?.id as never
  const session = before['session']?.[0]?.['id'] as never
  t.match(found(await store.readMessages(ann, session, { after: 0, limit: 9 })).messages, [
    { sealed: 'nul\u0000, one\u0001, é, 𝄞' },
    {},
    {},
    {}
  ])
})

t.test('a row that was damaged on the disk is named and not read, and an old row without a checksum is read [F5]', async t => {
  const { file, transfer } = await filledStore(t)
  const sound = await transfer()
  const before = (await sound.read(messages, undefined))[1]
  await sound.close()
  change(file, 'UPDATE message SET crc = NULL WHERE seq = 2')
  const withoutChecksum = await transfer()
  t.same((await withoutChecksum.read(messages, undefined))[1], before, 'it gets one in the copy')
  await withoutChecksum.close()
  change(file, "UPDATE message SET sealed = 'changed' WHERE seq = 3")
  const damaged = await transfer()
  await t.rejects(damaged.read(messages, undefined), { name: 'RowDamaged', message: /message 1 1 3 / })
  await t.rejects(damaged.read(messages, before), { name: 'RowDamaged', message: /message 1 1 3 / })
  t.equal((await damaged.read(transferTable('account'), undefined)).length, 1)
})

t.test('a new account continues after the keys that were used', async t => {
  const { data, transfer } = await emptyStore(t)
  await transfer.continueAfter({ account: 40 })
  await transfer.close()
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  await newAccount(store, 'ann')
  await store.close()
  const again = await openSqliteTransfer(join(data, 'afield.db'), data)
  t.teardown(() => again.close())
  t.match(await again.lastKeys(), { account: 41 })
})

t.test('no server uses the database meanwhile, and one can afterwards [F6]', async t => {
  const { data, transfer } = await emptyStore(t)
  const open = () => openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  await t.rejects(open(), { message: /Another Afield server is using/ })
  await transfer.close()
  const store = await open()
  await store.close()
})
