import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import type { Amounts, UsageBucket, UsageStore } from '../../lib/store/usage.ts'
import type { Deps } from '../engine/deps.ts'

interface Stored {
  id: string
  createdAt: number
  updatedAt: number
}
interface Amount {
  tokens: string
  cost: string
  createdAt: number
}
interface Sum {
  tokens: Map<string, number>
  cost: Map<string, number>
  reports: number
}

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const noSession = 0

/** What agents say they used. */
export function usage({ database, queue }: Deps): UsageStore {
  const findSession = database
    .prepare<[AccountId, SessionId], number>(`SELECT key FROM session WHERE account = ${accountKey} AND id = ?`)
    .pluck()
  const put = database.prepare<[AccountId, number, string, string, number, number, string, string], Stored>(
    `INSERT INTO usage_report (account, session, name, id, created_at, updated_at, tokens, cost) VALUES (${accountKey}, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (account, session, name) DO UPDATE SET updated_at = excluded.updated_at, tokens = excluded.tokens, cost = excluded.cost
     RETURNING id, created_at AS createdAt, updated_at AS updatedAt`
  )
  const select = `SELECT tokens, cost, created_at AS createdAt FROM usage_report WHERE account = ${accountKey} AND created_at BETWEEN ? AND ?`
  // Those of a removed session count no more, also while they are still there.
  const ofAccount = database.prepare<[AccountId, number, number], Amount>(
    `${select} AND NOT EXISTS (SELECT 1 FROM leftover WHERE kind = 'session' AND key = session) ORDER BY created_at`
  )
  const ofSession = database.prepare<[AccountId, number, number, number], Amount>(`${select} AND session = ? ORDER BY created_at`)

  function keyOf(account: AccountId, session: SessionId | null): number | undefined {
    return session === null ? noSession : findSession.get(account, session)
  }

  return {
    putUsageReport: (account, { id, key, session, tokens, cost, now }) =>
      queue.write(() => {
        const sessionKey = keyOf(account, session)
        if (sessionKey === undefined) return 'missing'
        const stored = put.get(account, sessionKey, key, id, now, now, JSON.stringify(tokens), JSON.stringify(cost))
        if (!stored) throw new Error('A usage report was not stored')
        return stored
      }),
    readUsage: (account, { session, from, to, bucketMs }) =>
      queue.read(() => {
        const sessionKey = keyOf(account, session)
        if (sessionKey === undefined) return 'missing'
        // Row by row, so that however many there are only their sums are held.
        const rows = session === null ? ofAccount.iterate(account, from, to) : ofSession.iterate(account, from, to, sessionKey)
        return sumUp(rows, bucketMs)
      })
  }
}

function sumUp(rows: Iterable<Amount>, bucketMs: number): UsageBucket[] {
  const sums = new Map<number, Sum>()
  for (const { tokens, cost, createdAt } of rows) {
    const at = Math.floor(createdAt / bucketMs) * bucketMs
    const sum = sums.get(at) ?? { tokens: new Map(), cost: new Map(), reports: 0 }
    sums.set(at, sum)
    add(sum.tokens, JSON.parse(tokens))
    add(sum.cost, JSON.parse(cost))
    sum.reports += 1
  }
  return Array.from(sums, ([at, { tokens, cost, reports }]) => ({
    at,
    tokens: Object.fromEntries(tokens),
    cost: Object.fromEntries(cost),
    reports
  }))
}

function add(sum: Map<string, number>, amounts: Amounts): void {
  for (const [name, amount] of Object.entries(amounts)) sum.set(name, (sum.get(name) ?? 0) + amount)
}
