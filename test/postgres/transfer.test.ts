import t from 'tap'
import { checksumOf } from '../../lib/store/checksum.ts'
import { type MoveTarget, mostTransferBytes, type TransferRow, transferTable, transferTables } from '../../lib/store/transfer.ts'
import { openPostgresStore } from '../../postgres/store.ts'
import { openPostgresTransfer } from '../../postgres/transfer.ts'
import { lacksPostgres, startPostgres } from '../kit/postgres.ts'
import { newAccount } from '../store/contract/kit.ts'
import { accountRow, transferContract } from '../transfer/contract.ts'

const table = transferTable
const nonces = table('used_nonce')
const devices = table('device')
const accounts = table('account')
const pieces = table('attachment_piece')

t.test('a database in PostgreSQL as rows', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)
  const migrated = await postgres.makeDatabase()
  await (await openPostgresStore(migrated, {})).close()

  const nameOf = (url: string) => new URL(url).pathname.slice(1)
  const ask = <Row>(url: string, sql: string) => postgres.query<Row>(sql, nameOf(url))
  type Opened = { url: string; transfer: MoveTarget }
  const opened = async (t: { teardown(run: () => unknown): unknown }): Promise<Opened> => {
    const url = await postgres.makeDatabase(migrated)
    const transfer = await openPostgresTransfer(url)
    t.teardown(() => transfer.close())
    return { url, transfer }
  }
  /** PostgreSQL notices a moment later that a client is gone. */
  const freed = async (url: string) => {
    const users = `SELECT FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`
    while ((await postgres.query(users)).length > 0);
  }

  transferContract(t, async t => (await opened(t)).transfer)

  t.test('it is filled from one store only, which may continue later, and no server opens it before the end', async t => {
    const { url, transfer } = await opened(t)
    await ask(url, "INSERT INTO server_secret VALUES ('own', 'x')")
    t.equal(await transfer.begin('epoch'), 'new')
    for (const { name } of transferTables) t.same(await ask(url, `SELECT FROM ${name}`), [], `nothing of a first start is left in ${name}`)
    t.equal(await transfer.begin('epoch'), 'begun')
    await t.rejects(transfer.begin('another'), { name: 'CannotStart', message: new RegExp(`into the database ${nameOf(url)} at 127`) })
    await transfer.close()
    await freed(url)
    await t.rejects(openPostgresStore(url, {}), { name: 'CannotStart', message: /only a part of the store/ })
    await freed(url)
    await t.rejects(openPostgresTransfer(url, { isWhole: true }), { name: 'CannotStart', message: /only a part of the store/ })
    await freed(url)

    const again = await openPostgresTransfer(url)
    t.equal(await again.begin('epoch'), 'begun', 'also from another process')
    await again.write(table('epoch'), [{ only_row: 1, id: 'epoch' }])
    await again.write(accounts, [accountRow(1)])
    await again.write(nonces, [nonce(1)])
    t.same(await ask(url, "SELECT FROM pg_stats WHERE tablename = 'used_nonce'"), [])
    await again.finish()
    t.not((await ask(url, "SELECT FROM pg_stats WHERE tablename = 'used_nonce'")).length, 0, 'with statistics from the start')
    await t.rejects(again.begin('epoch'), { name: 'CannotStart', message: /already has everything of this store/ })
    await t.rejects(again.begin('another'), { name: 'CannotStart', message: /already has accounts; choose an empty one/ })
    await again.close()
    await (await openPostgresTransfer(url, { isWhole: true })).close()
    await (await openPostgresStore(url, {})).close()
  })

  t.test('it is not opened while a server uses it, nor with a schema that is newer', async t => {
    const url = await postgres.makeDatabase(migrated)
    const store = await openPostgresStore(url, {})
    await newAccount(store, 'ann')
    await t.rejects(openPostgresTransfer(url), {
      name: 'CannotStart',
      message: /An Afield server is using the database .*stop every instance/
    })
    await store.close()
    await freed(url)
    await ask(url, "INSERT INTO migration VALUES (9999, 'later', 1, 1)")
    await t.rejects(openPostgresTransfer(url), { name: 'CannotStart', message: /was written by a newer Afield/ })
    // It left no connection behind.
    await freed(url)
  })

  t.test('the last row is the one with the highest key, after which a move goes on', async t => {
    const { transfer } = await opened(t)
    t.equal(await transfer.last(nonces), undefined)
    await transfer.write(nonces, [nonce(2), nonce(3), nonce(1)])
    t.same(await transfer.last(nonces), nonce(3))
    await transfer.write(accounts, [accountRow(10), accountRow(9)])
    t.same(await transfer.last(accounts), accountRow(10), 'by number')
  })

  t.test('bytes count for the size of a page as texts do', async t => {
    const { transfer } = await opened(t)
    const secrets = table('server_secret')
    const half = mostTransferBytes / 2 + 1
    await transfer.write(
      secrets,
      ['a', 'b', 'c'].map(name => ({ name, value: Buffer.alloc(half) }))
    )
    t.same(
      (await transfer.read(secrets, undefined)).map(({ name }) => name),
      ['a', 'b']
    )
  })

  t.test('flags and bytes are read as in every other store, also bytes that are a part of a buffer', async t => {
    const { url, transfer } = await opened(t)
    const pairing = { kind: 'terminal', public_key: 'k', supports_v2: 1, asked_from: '', account: null, answered_by: null, response: 'r' }
    const row = { ...pairing, answer_hash: new Uint8Array([0, 1, 2, 3]).subarray(1, 3), delivered: 0, asked_again: 1, ends_at: 9 }
    await transfer.write(table('pairing'), [row])
    const expected = { ...row, answer_hash: Buffer.from([1, 2]) }
    t.strictSame({ ...(await transfer.read(table('pairing'), undefined))[0] }, expected)
    t.strictSame({ ...(await transfer.last(table('pairing'))) }, expected)
    t.match(await ask(url, 'SELECT supports_v2, delivered, asked_again FROM pairing'), [
      { supports_v2: true, delivered: false, asked_again: true }
    ])
    await transfer.write(table('pairing'), [row])
    await t.rejects(transfer.write(table('pairing'), [{ ...row, delivered: 1 }]), { name: 'RowTaken' })
  })

  t.test('what is written together is visible to others together, in one transaction however deep', async t => {
    const { url, transfer } = await opened(t)
    const failed = transfer.atomically(async () => {
      await transfer.write(nonces, [nonce(1)])
      await transfer.atomically(() => transfer.write(nonces, [nonce(2)]))
      t.same(await ask(url, 'SELECT FROM used_nonce'), [], 'nobody sees it before')
      throw new Error('not now')
    })
    await t.rejects(failed, { message: 'not now' })
    t.equal(await transfer.count(nonces), 0)
    await transfer.atomically(() => transfer.write(nonces, [nonce(3)]))
    t.equal((await ask(url, 'SELECT FROM used_nonce')).length, 1)
    const lost = transfer.atomically(async () => {
      await ask(
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'afield' AND datname = current_database()"
      )
      await t.rejects(transfer.count(nonces), { name: 'ConnectionLost' })
      throw new Error('why it ended')
    })
    await t.rejects(lost, { message: 'why it ended' })
  })

  t.test('new rows continue after the keys that were used, of every table', async t => {
    const { url, transfer } = await opened(t)
    await transfer.write(accounts, [accountRow(7)])
    await transfer.write(devices, [device(5)])
    await transfer.continueAfter({ device: 4, machine: 12, account: 9 })
    t.match(await transfer.lastKeys(), { device: 5, machine: 12, account: 9 })
    const [next] = await ask<{ key: string }>(url, "SELECT nextval('account_key_seq') AS key")
    t.equal(Number(next?.key), 10)
  })

  t.test('a damaged message or piece of a file is named and not read', async t => {
    const { transfer } = await opened(t)
    await transfer.write(accounts, [accountRow(1)])
    const session = { key: 1, account: 1, id: 's', tag: 't', last_seq: 2, delivered_seq: 0, read_seq: 0, gap_ahead: 0, gaps: 0, bytes: 6 }
    await transfer.write(table('session'), [{ ...session, clock: 1, active: 0, active_at: 1, created_at: 1, updated_at: 1 }])
    const message = (seq: number, crc = checksumOf(1, seq, 'abc')) => ({
      account: 1,
      session: 1,
      seq,
      created_at: 1,
      crc,
      local_id: null,
      sealed: 'abc'
    })
    await transfer.write(table('message'), [message(1), message(2, 5)])
    await t.rejects(transfer.read(table('message'), undefined), { name: 'RowDamaged', message: /message 1 1 2 / })
    t.same(await transfer.read(table('message'), message(2)), [])

    const attachment = {
      key: 1,
      account: 1,
      session: 1,
      id: 'a',
      size: 6,
      received: 6,
      attempt: 0,
      sha256: null,
      created_at: 1,
      ends_at: 9
    }
    await transfer.write(table('attachment'), [attachment])
    const piece = (at: number, crc?: number) => {
      const bytes = Buffer.from('abc')
      return { account: 1, attachment: 1, at, crc: crc ?? checksumOf(1, at, bytes), bytes }
    }
    await transfer.write(pieces, [piece(0)])
    t.same(await transfer.read(pieces, undefined), [piece(0)])
    await transfer.write(pieces, [piece(3, 5)])
    await t.rejects(transfer.read(pieces, undefined), { name: 'RowDamaged', message: /attachment_piece 1 1 3 / })
  })
})

function nonce(number: number): TransferRow {
  const hash = Buffer.alloc(32)
  hash.writeUInt32BE(number)
  return { hash, at: number }
}

function device(key: number): TransferRow {
  const names = { id: `device ${key}`, kind: 'account', name: 'a phone', public_key: null }
  return { key, account: 7, ...names, created_at: 1, last_used_at: 1, last_used_from: '', notifications: null }
}
