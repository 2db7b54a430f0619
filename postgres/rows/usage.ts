import type { AccountId, SessionId } from '../../lib/protocol/wire/ids.ts'
import { noQuotas, OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { UsageBucket, UsageStore } from '../../lib/store/usage.ts'
import { Sums } from '../../lib/store/usage-sums.ts'
import type { Deps, Queries, Tx } from '../engine/deps.ts'
import { hasRows, withinState } from '../engine/quotas.ts'

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

const accountKey = '(SELECT key FROM account WHERE id = $1)'
const noSession = 0
/** Summed in one go: some milliseconds, however many names each has. */
const reportsAtOnce = 200

/** Usage reported by agents. */
export function usage({ write, read }: Deps): UsageStore {
  const reading = new Map<AccountId, Promise<unknown>>()

  async function sum(account: AccountId, { session, from, to, bucketMs }: Ask): Promise<UsageBucket[] | 'missing'> {
    const sessionKey = await read(queries => keyOf(queries, account, session))
    if (sessionKey === undefined) return 'missing'
    const only = session === null ? null : sessionKey
    const sums = new Sums(bucketMs)
    // A report that is replaced meanwhile keeps its place in this order, so each counts once.
    let after: Pick<Amount, 'createdAt' | 'row'> = { createdAt: from, row: -1 }
    for (;;) {
      const { createdAt, row } = after
      const rows = await read(queries => queries.all<Amount>(next, [account, createdAt, row, to, only]))
      for (const amount of rows) sums.add(amount)
      const last = rows.at(-1)
      if (!last || rows.length < reportsAtOnce || sums.isFull) return sums.buckets
      after = last
    }
  }

  return {
    putUsageReport: (account, report, quotas = noQuotas) =>
      write(account, tx => withinState(tx, account, quotas, () => put(tx, account, report, quotas)), { bytes: report.key.length }),
    // One at a time per account, so that many at once do not delay others.
    readUsage(account, ask) {
      const before = reading.get(account) ?? Promise.resolve()
      const sums = before.then(() => sum(account, ask))
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

// Those of a removed session no longer count, even while they are still there.
const next = `SELECT key AS row, tokens, cost, created_at AS "createdAt" FROM usage_report
  WHERE account = ${accountKey} AND (created_at, key) > ($2, $3) AND created_at <= $4 AND ($5::bigint IS NULL OR session = $5)
    AND NOT EXISTS (SELECT FROM leftover WHERE leftover.kind = 'session' AND leftover.key = session)
  ORDER BY created_at, key LIMIT ${reportsAtOnce}`

async function keyOf(queries: Queries, account: AccountId, session: SessionId | null): Promise<number | undefined> {
  if (session === null) return noSession
  const row = await queries.get<{ key: number }>(`SELECT key FROM session WHERE account = ${accountKey} AND id = $2`, [account, session])
  return row?.key
}

async function put(
  tx: Tx,
  account: AccountId,
  { id, key, session, tokens, cost, now }: Draft,
  quotas: Quotas
): Promise<Stored | 'missing'> {
  const sessionKey = await keyOf(tx, account, session)
  if (sessionKey === undefined) return 'missing'
  const isKnown = await tx.get(`SELECT FROM usage_report WHERE account = ${accountKey} AND session = $2 AND name = $3`, [
    account,
    sessionKey,
    key
  ])
  if (!isKnown && (await hasRows(tx, 'usage_report', account, quotas.usageReports))) throw new OverQuota('usageReports')
  const stored = await tx.get<Stored>(
    `INSERT INTO usage_report (account, session, name, id, created_at, updated_at, tokens, cost)
     VALUES (${accountKey}, $2, $3, $4, $5, $5, $6, $7)
     ON CONFLICT (account, session, name) DO UPDATE SET updated_at = excluded.updated_at, tokens = excluded.tokens, cost = excluded.cost
     RETURNING id, created_at AS "createdAt", updated_at AS "updatedAt"`,
    [account, sessionKey, key, id, now, JSON.stringify(tokens), JSON.stringify(cost)]
  )
  if (!stored) throw new Error('A usage report was not stored')
  return stored
}
