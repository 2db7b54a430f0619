import { type Checked, isSound } from '../../lib/store/checksum.ts'
import type { Damage } from '../../lib/store/damage.ts'
import { bytesOf, mostPageBytes } from '../../lib/store/drafts.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Message, Page } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'
import { openAppends } from './appends.ts'

type PageAsk = Parameters<Store['readMessages']>[2]
/** One row without a message is that of a session without messages there; of those too large for the page `sealed` is left out. */
type Found = { sessionKey: number } & (
  | { seq: null }
  | (Omit<Checked, 'sealed'> & Omit<Message, 'sealed'> & { sealed: Message['sealed'] | null })
)

export function messages({ write, read, damage }: Deps): Pick<Store, 'appendMessages' | 'readMessages'> {
  const appends = openAppends(damage)
  return {
    async appendMessages(account, session, drafts, now, quotas = noQuotas) {
      const ask = { account, session, drafts, now, quotas }
      const answer = await write(account, tx => appends.append(tx, ask), { bytes: bytesOf(drafts), tail: appends })
      if (answer instanceof Error) throw answer
      return answer
    },
    readMessages: (account, session, page) =>
      read(async queries => {
        const [sql, at] = pageOf(page)
        const rows = await queries.all<Found>(sql, [account, session, at, page.limit + 1])
        const [first] = rows
        return first ? pageFrom(rows, page.limit, damage) : 'missing'
      })
  }
}

const select = (which: string, order: string) =>
  `SELECT session.key AS "sessionKey", page.seq, local_id AS "localId", page.created_at AS "createdAt", crc,
     CASE WHEN bytes_before <= ${mostPageBytes} THEN sealed END AS sealed
   FROM session LEFT JOIN LATERAL (
     SELECT *, sum(octet_length(sealed)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) - octet_length(sealed) AS bytes_before FROM (
       SELECT seq, local_id, created_at, crc, sealed FROM message
       WHERE message.account = session.account AND message.session = session.key AND ${which} ORDER BY ${order} LIMIT $4) AS next
   ) AS page ON true
   WHERE session.account = (SELECT key FROM account WHERE id = $1) AND session.id = $2 ORDER BY ${order}`
const pageAfter = select('seq > $3', 'seq')
const pageBefore = select('seq < $3', 'seq DESC')

function pageOf(page: PageAsk): [sql: string, at: number] {
  return 'after' in page ? [pageAfter, page.after] : [pageBefore, page.before]
}

// A page ends before a damaged message, and one that would begin with it is rejected: later messages are never shown as
// if nothing were missing.
function pageFrom(rows: readonly Found[], limit: number, damage: Damage): Page {
  const messages: Message[] = []
  for (const row of rows) {
    if (row.seq === null) break
    const { sessionKey, crc, seq, localId, sealed, createdAt } = row
    if (messages.length === limit || sealed === null) return { messages, more: true }
    if (!isSound(sessionKey, { seq, sealed, crc })) {
      const damaged = damage.note(`message ${seq} of ${sessionKey}`)
      if (messages.length === 0) throw damaged
      return { messages, more: true }
    }
    messages.push({ seq, localId, sealed, createdAt })
  }
  return { messages, more: false }
}
