import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openStore, openTransfer } from '../../lib/store/open.ts'
import { safekeepingOf } from '../../lib/store/safekeeping.ts'
import { type Transfer, type TransferRow, transferPages, transferRows, transferTable, transferTables } from '../../lib/store/transfer.ts'
import { openSqliteTransfer } from '../../sqlite/transfer.ts'
import { memoryFolder } from '../kit/memory-folder.ts'
import { found, newAccount } from '../store/contract/kit.ts'
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

const [accounts, kv, messages] = [transferTable('account'), transferTable('kv'), transferTable('message')]
const accountRow = (key: number, more: Partial<TransferRow> = {}): TransferRow => ({
  ...{ key, id: `account ${key}`, public_key: `key ${key}`, role: 'member', clock: 0, forgotten_clock: 0, messages: 0, bytes: 0 },
  ...{ attachment_bytes: 0, artifact_bytes: 0, legacy_login: 'on', legacy_logins: 0, created_at: 1, ...more }
})
const kvRow = (name: string, value: string | null): TransferRow => ({ account: 1, name, version: 1, clock: 1, updated_at: 1, value })

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

t.test('the rows of a table are read in the order of their key, in pages of a thousand rows or 4 MiB', async t => {
  const { transfer } = await emptyStore(t)
  await transfer.write(accounts, [accountRow(1)])
  const names = Array.from({ length: 2_001 }, (_, number) => `key ${String(number).padStart(4, '0')}`)
  await transfer.write(
    kv,
    names.toReversed().map(name => kvRow(name, 'x'))
  )
  const pages = await Array.fromAsync(transferPages(transfer, kv))
  t.same(
    pages.map(page => page.length),
    [1_000, 1_000, 1]
  )
  t.same(
    pages.flat().map(({ name }) => name),
    names
  )
  t.same(await transfer.read(kv, pages.flat().at(-1)), [])
  t.strictSame(pages[2], [kvRow('key 2000', 'x')], 'with the columns of the table, and no others')

  const { transfer: other } = await emptyStore(t)
  await other.write(accounts, [accountRow(1)])
  const mebibyte = 'x'.repeat(1024 * 1024)
  await other.write(
    kv,
    ['a', 'b', 'c', 'd', 'e'].map(name => kvRow(name, mebibyte))
  )
  t.same(
    (await Array.fromAsync(transferPages(other, kv))).map(page => page.map(({ name }) => name)),
    [['a', 'b', 'c', 'd'], ['e']]
  )
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
  t.equal((await damaged.read(accounts, undefined)).length, 1)
})

t.test('rows that are there already stay, and one that differs stores none of its page', async t => {
  const { transfer } = await emptyStore(t)
  await transfer.write(accounts, [accountRow(1), accountRow(2)])
  await transfer.write(accounts, [accountRow(2), accountRow(3)])
  t.equal(await transfer.count(accounts), 3)
  await t.rejects(transfer.write(accounts, [accountRow(4), accountRow(3, { clock: 5 })]), {
    name: 'RowTaken',
    message: 'account 3 is there already, with other content'
  })
  await t.rejects(transfer.write(accounts, [accountRow(5, { id: 'account 1' })]), { name: 'RowTaken' }, 'nor one with a name of another')
  t.same(await transfer.read(accounts, undefined), [accountRow(1), accountRow(2), accountRow(3)])
})

t.test('keys that were used are never used again, also those of removed rows', async t => {
  const { data, transfer } = await emptyStore(t)
  t.match(await transfer.lastKeys(), { session: 0, machine: 0 })
  await transfer.write(accounts, [accountRow(3)])
  await transfer.write(transferTable('leftover'), [{ kind: 'session', key: 77, account: 3, id: 'gone' }])
  t.match(await transfer.lastKeys(), { account: 3, session: 77, machine: 0 })
  t.notOk('leftover' in (await transfer.lastKeys()))
  await transfer.continueAfter({ account: 40 })
  await transfer.continueAfter({ account: 2 })
  await transfer.continueAfter({})
  t.match(await transfer.lastKeys(), { account: 40, session: 77 }, 'it never falls')
  await transfer.close()
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  await newAccount(store, 'ann')
  await store.close()
  const again = await openSqliteTransfer(join(data, 'afield.db'), data)
  t.teardown(() => again.close())
  t.match(await again.lastKeys(), { account: 41 })
})

t.test('what is written together is there together, or not at all', async t => {
  const { transfer } = await emptyStore(t)
  const writing = transfer.atomically(async () => {
    await transfer.write(accounts, [accountRow(1)])
    throw new Error('changed my mind')
  })
  await t.rejects(writing, { message: 'changed my mind' })
  t.equal(await transfer.count(accounts), 0)
  const answer = await transfer.atomically(async () => {
    await transfer.write(accounts, [accountRow(1)])
    await transfer.write(kv, [kvRow('a', null)])
    return 'done'
  })
  t.equal(answer, 'done')
  t.same([await transfer.count(accounts), await transfer.count(kv)], [1, 1])
})

t.test('no server uses the database meanwhile, and one can afterwards [F6]', async t => {
  const { data, transfer } = await emptyStore(t)
  const open = () => openStore('sqlite:afield.db', { dataDirectory: data, onBroken: reason => t.fail(reason.message) })
  await t.rejects(open(), { message: /Another Afield server is using/ })
  await transfer.close()
  const store = await open()
  await store.close()
})
