import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { MessageStore, Receipts } from '../../lib/store/messages.ts'
import { moveClock, readClock } from '../engine/clock.ts'
import type { Deps, Tx } from '../engine/deps.ts'

const isIt = 'account = (SELECT key FROM account WHERE id = $1) AND id = $2'

/** The receipts of a session. */
export function receipts({ write }: Deps): Pick<MessageStore, 'markReceipts'> {
  return { markReceipts: (account, session, upTo) => write(account, tx => mark(tx, account, session, upTo)) }
}

async function mark(tx: Tx, account: AccountId, session: SessionId, upTo: Partial<Receipts>) {
  const now = await tx.get<Receipts & { lastSeq: number }>(
    `SELECT last_seq AS "lastSeq", delivered_seq AS "deliveredSeq", read_seq AS "readSeq" FROM session WHERE ${isIt}`,
    [account, session]
  )
  if (!now) return 'missing'
  const readSeq = Math.max(now.readSeq, Math.min(upTo.readSeq ?? 0, now.lastSeq))
  const deliveredSeq = Math.max(now.deliveredSeq, Math.min(upTo.deliveredSeq ?? 0, now.lastSeq), readSeq)
  if (readSeq === now.readSeq && deliveredSeq === now.deliveredSeq) {
    return { deliveredSeq, readSeq, moved: false, clock: await readClock(tx, account) }
  }
  const clock = await moveClock(tx, account, 1)
  tx.send(`UPDATE session SET delivered_seq = $3, read_seq = $4, clock = $5 WHERE ${isIt}`, [
    account,
    session,
    deliveredSeq,
    readSeq,
    clock
  ])
  return { deliveredSeq, readSeq, moved: true, clock }
}
