import type { AccountId, SessionId } from '../protocol/wire/ids.ts'
import type { Quotas } from './quotas.ts'

/** Amounts by name, such as `total` and `input`. */
export type Amounts = Record<string, number>

export interface UsageBucket {
  /** The start of the bucket, in milliseconds. */
  at: number
  tokens: Amounts
  cost: Amounts
  reports: number
}

export interface UsageStore {
  /** One report per account, session and key: a later one replaces the amounts and keeps id and creation. */
  putUsageReport(
    account: AccountId,
    report: { id: string; key: string; session: SessionId | null; tokens: Amounts; cost: Amounts; now: number },
    quotas?: Quotas
  ): Promise<{ id: string; createdAt: number; updatedAt: number } | 'missing'>
  /**
   * Sums of the reports made from `from` to `to`, both included, in buckets of that many milliseconds
   * since 1970; empty ones are left out. Other calls proceed meanwhile, and those for the same account
   * wait.
   */
  readUsage(
    account: AccountId,
    ask: { session: SessionId | null; from: number; to: number; bucketMs: number }
  ): Promise<UsageBucket[] | 'missing'>
}
