import type { Test } from 'tap'
import {
  mostTransferBytes,
  mostTransferRows,
  type Transfer,
  type TransferRow,
  transferPages,
  transferTable
} from '../../lib/store/transfer.ts'

const [accounts, kv] = [transferTable('account'), transferTable('kv')]

/** What every driver keeps of `Transfer`, between an empty store that `open` makes and its rows. */
export function transferContract(t: Test, open: (t: Test) => Promise<Transfer>): void {
  t.test('the rows of a table are read in the order of their key, page by page', async t => {
    const transfer = await open(t)
    await transfer.write(accounts, [accountRow(1)])
    t.same([await transfer.read(kv, undefined), await transfer.count(kv)], [[], 0])
    const names = Array.from({ length: 2 * mostTransferRows + 1 }, (_, number) => `key ${String(number).padStart(4, '0')}`)
    const rows = names.map(name => kvRow(name, 'x'))
    await transfer.write(kv, rows.toReversed())
    t.equal(await transfer.count(kv), rows.length)
    const pages = await Array.fromAsync(transferPages(transfer, kv))
    t.same(
      pages.map(page => page.length),
      [mostTransferRows, mostTransferRows, 1]
    )
    t.same(pages.flat(), rows, 'with the columns of the table, and no others')
    t.same(await transfer.read(kv, rows.at(-1)), [])
  })

  t.test('a page of huge rows ends early, but has at least one', async t => {
    const transfer = await open(t)
    await transfer.write(accounts, [accountRow(1)])
    const half = mostTransferBytes / 2 + 1
    const sizes = { a: half, b: half, c: half, d: 3 * half }
    await transfer.write(
      kv,
      Object.entries(sizes).map(([name, size]) => kvRow(name, 'x'.repeat(size)))
    )
    const names = async (after?: string) => {
      const page = await transfer.read(kv, after === undefined ? undefined : kvRow(after, null))
      return page.map(({ name }) => name)
    }
    t.same([await names(), await names('b'), await names('c')], [['a', 'b'], ['c', 'd'], ['d']])
  })

  t.test('rows that are there already stay, and one that differs stores none of its page', async t => {
    const transfer = await open(t)
    await transfer.write(accounts, [accountRow(1), accountRow(2)])
    await transfer.write(accounts, [])
    await transfer.write(accounts, [accountRow(2), accountRow(3)])
    t.equal(await transfer.count(accounts), 3)
    await t.rejects(transfer.write(accounts, [accountRow(4), accountRow(3, { clock: 5 })]), {
      name: 'RowTaken',
      message: 'account 3 is there already, with other content'
    })
    const namesake = accountRow(5, { id: 'account 1' })
    await t.rejects(transfer.write(accounts, [accountRow(4), namesake]), { name: 'RowTaken', message: /^account 5 is there already/ })
    t.same(await transfer.read(accounts, undefined), [accountRow(1), accountRow(2), accountRow(3)])
  })

  t.test('keys of accounts are never used again, nor those of removed rows of which something is left', async t => {
    const transfer = await open(t)
    const none = await transfer.lastKeys()
    t.same(new Set(Object.values(none)), new Set([0]))
    t.notOk('leftover' in none)
    await transfer.continueAfter({})
    t.same(await transfer.lastKeys(), none)
    await transfer.write(accounts, [accountRow(3)])
    await transfer.write(transferTable('leftover'), [{ kind: 'session', key: 77, account: 3, id: 'gone' }])
    await transfer.continueAfter({ account: 2 })
    t.same(await transfer.lastKeys(), { ...none, account: 3, session: 77 })
    await transfer.continueAfter({ account: 40 })
    await transfer.continueAfter({ account: 39 })
    t.same(await transfer.lastKeys(), { ...none, account: 40, session: 77 }, 'none gets lower')
  })

  t.test('what is written together is stored together, or not at all', async t => {
    const transfer = await open(t)
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
}

export function accountRow(key: number, more: Partial<TransferRow> = {}): TransferRow {
  return {
    ...{ key, id: `account ${key}`, public_key: `key ${key}`, role: 'member', clock: 0, forgotten_clock: 0, messages: 0, bytes: 0 },
    ...{ attachment_bytes: 0, artifact_bytes: 0, legacy_login: 'on', legacy_logins: 0, created_at: 1, ...more }
  }
}

function kvRow(name: string, value: string | null): TransferRow {
  return { account: 1, name, version: 1, clock: 1, updated_at: 1, value }
}
