import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { UsageBucket, UsageStore } from '../../lib/store/usage.ts'
import { Sums } from '../../lib/store/usage-sums.ts'
import type { Deps } from '../engine/deps.ts'
import { rowQuota, stateQuota } from '../engine/quotas.ts'

type Ask = Parameters<UsageStore['readUsage']>[1]
type Draft = Parameters<UsageStore['putUsageReport']>[1]

interface Stored {
  id: string
  createdAt: number
  updatedAt: number
}
interface Amount {
  row: number
  tokens: string
  cost: string
  createdAt: number
}

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const noSession = 0
/** Summed in one go: some milliseconds, however many names each has. */
const reportsAtOnce = 200

/** Usage reported by agents. */
export function usage({ database, queue }: Deps): UsageStore {
  const findSession = database
    .prepare<[AccountId, SessionId], number>(`SELECT key FROM session WHERE account = ${accountKey} AND id = ?`)
    .pluck()
  const find = database.prepare<[AccountId, number, string]>(
    `SELECT 1 FROM usage_report WHERE account = ${accountKey} AND session = ? AND name = ?`
  )
  const put = database.prepare<[AccountId, number, string, string, number, number, string, string], Stored>(
    `INSERT INTO usage_report (account, session, name, id, created_at, updated_at, tokens, cost) VALUES (${accountKey}, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (account, session, name) DO UPDATE SET updated_at = excluded.updated_at, tokens = excluded.tokens, cost = excluded.cost
     RETURNING id, created_at AS createdAt, updated_at AS updatedAt`
  )
  // Those of a removed session no longer count, even while they are still there.
  const next = database.prepare<[AccountId, number, number, number, number | null, number | null], Amount>(
    `SELECT rowid AS row, tokens, cost, created_at AS createdAt FROM usage_report
     WHERE account = ${accountKey} AND (created_at, rowid) > (?, ?) AND created_at <= ? AND (? IS NULL OR session = ?)
       AND NOT EXISTS (SELECT 1 FROM leftover WHERE kind = 'session' AND key = session)
     ORDER BY created_at, rowid LIMIT ${reportsAtOnce}`
  )
  const isFull = rowQuota(database, 'usage_report')
  const within = stateQuota(database)
  const reading = new Map<AccountId, Promise<unknown>>()

  function keyOf(account: AccountId, session: SessionId | null): number | undefined {
    return session === null ? noSession : findSession.get(account, session)
  }

  function putReport(account: AccountId, { id, key, session, tokens, cost, now }: Draft, quotas: Quotas): Stored | 'missing' {
    const sessionKey = keyOf(account, session)
    if (sessionKey === undefined) return 'missing'
    if (find.get(account, sessionKey, key) === undefined && isFull(account, quotas.usageReports)) throw new OverQuota('usageReports')
    const stored = put.get(account, sessionKey, key, id, now, now, JSON.stringify(tokens), JSON.stringify(cost))
    if (!stored) throw new Error('A usage report was not stored')
    return stored
  }

  async function read(account: AccountId, { session, from, to, bucketMs }: Ask): Promise<UsageBucket[] | 'missing'> {
    const sessionKey = await queue.read(() => keyOf(account, session))
    if (sessionKey === undefined) return 'missing'
    const only = session === null ? null : sessionKey
    const sums = new Sums(bucketMs)
    // A report that is replaced meanwhile keeps its place in this order, so each counts once.
    let after: Pick<Amount, 'createdAt' | 'row'> = { createdAt: from, row: Number.MIN_SAFE_INTEGER }
    for (;;) {
      const rows = await queue.read(() => next.all(account, after.createdAt, after.row, to, only, only))
      for (const row of rows) sums.add(row)
      const last = rows.at(-1)
      if (!last || rows.length < reportsAtOnce || sums.isFull) return sums.buckets
      after = last
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  return {
    putUsageReport: (account, report, quotas = noQuotas) =>
      queue.write(() => within(account, quotas, () => putReport(account, report, quotas)), { bytes: report.key.length }),
    // One at a time per account, so that many at once do not delay others.
    readUsage(account, ask) {
      const before = reading.get(account) ?? Promise.resolve()
      const sums = before.then(() => read(account, ask))
      const ended = sums.then(
        () => {},
        () => {}
      )
      reading.set(account, ended)
      ended.then(() => reading.get(account) === ended && reading.delete(account))
      return sums
    }
  }
}
