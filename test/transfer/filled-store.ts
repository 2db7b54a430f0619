import { checksumOf } from '../../lib/store/checksum.ts'
import { openStore, openTransfer } from '../../lib/store/open.ts'
import type { Store } from '../../lib/store/store.ts'
import { type TransferRow, type TransferTable, transferTables } from '../../lib/store/transfer.ts'
import { draft, newAccount, newSession } from '../store/contract/kit.ts'

const store = 'sqlite:afield.db'

/** A store in which every table has rows: some that are used, and in the other tables made-up ones. */
export async function fill(data: string, messages = 3): Promise<void> {
  await openThen(data, async opened => {
    const ann = await newAccount(opened, 'ann')
    const session = await newSession(opened, ann)
    await opened.appendMessages(ann, session, [draft('nul\u0000, one\u0001, é, 𝄞', 'odd\u0000')], 5)
    for (let at = 0; at < messages; at += 1_000) {
      const drafts = Array.from({ length: Math.min(1_000, messages - at) }, (_, index) => draft(`message ${at + index}`, null))
      await opened.appendMessages(ann, session, drafts, 6)
    }
    await opened.openArtifact(ann, {
      id: 'artifact' as never,
      header: 'h' as never,
      body: 'b'.repeat(9_000) as never,
      dataKey: 'k' as never,
      now: 7
    })
    await opened.mutateKv(ann, [{ key: 'gone' as never, value: 'x' as never, version: -1 }], 8)
    await opened.mutateKv(ann, [{ key: 'gone' as never, value: null, version: 0 }], 9)
  })
  const transfer = await openTransfer(store, data)
  for (const table of transferTables) if ((await transfer.count(table)) === 0) await transfer.write(table, [madeUp(table)])
  await transfer.close()
}

function madeUp({ name, columns }: TransferTable): TransferRow {
  const values = { integer: 1, flag: 1, text: `text\u0000\u0001é of ${name}`, bytes: Buffer.alloc(32, 7) }
  const row = Object.fromEntries(Object.entries(columns).map(([column, kind]) => [column, values[kind]]))
  if (name === 'leftover') return { ...row, kind: 'session', key: 77 }
  // The only checksum that is a column of every driver, besides that of messages.
  return name === 'attachment_piece' ? { ...row, crc: checksumOf(1, 1, values.bytes) } : row
}

export async function openThen(data: string, run: (store: Store) => Promise<void>): Promise<void> {
  const opened = await openStore(store, { dataDirectory: data, onBroken() {} })
  await run(opened)
  await opened.close()
}
