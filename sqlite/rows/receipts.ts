import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { MessageStore, Receipts } from '../../lib/store/messages.ts'
import { accountClock } from '../engine/clock.ts'
import type { Deps } from '../engine/deps.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'

/** The receipts of a session. */
export function receipts({ database, queue }: Deps): Pick<MessageStore, 'markReceipts'> {
  const find = database.prepare<[AccountId, SessionId], Receipts & { lastSeq: number }>(
    `SELECT last_seq AS lastSeq, delivered_seq AS deliveredSeq, read_seq AS readSeq FROM session WHERE account = ${accountKey} AND id = ?`
  )
  const write = database.prepare<[number, number, number, AccountId, SessionId]>(
    `UPDATE session SET delivered_seq = ?, read_seq = ?, clock = ? WHERE account = ${accountKey} AND id = ?`
  )
  const clock = accountClock(database)

  function mark(account: AccountId, session: SessionId, upTo: Partial<Receipts>) {
    const now = find.get(account, session)
    if (!now) return 'missing'
    const readSeq = Math.max(now.readSeq, Math.min(upTo.readSeq ?? 0, now.lastSeq))
    const deliveredSeq = Math.max(now.deliveredSeq, Math.min(upTo.deliveredSeq ?? 0, now.lastSeq), readSeq)
    if (readSeq === now.readSeq && deliveredSeq === now.deliveredSeq) {
      return { deliveredSeq, readSeq, moved: false, clock: clock.read(account) }
    }
    const moved = clock.move(account, 1)
    write.run(deliveredSeq, readSeq, moved, account, session)
    return { deliveredSeq, readSeq, moved: true, clock: moved }
  }

  return { markReceipts: (account, session, upTo) => queue.write(() => mark(account, session, upTo)) }
}
