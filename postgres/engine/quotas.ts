import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import { OverQuota, type Quotas } from '../../lib/store/quotas.ts'
import type { Queries } from './deps.ts'

type Counted = 'session' | 'machine' | 'artifact' | 'kv' | 'usage_report' | 'notice'

/** Whether an account already has this many rows: an index scan that stops there, for tables that seldom grow. */
export async function hasRows(tx: Queries, table: Counted, account: AccountId, most: number): Promise<boolean> {
  if (!Number.isFinite(most)) return false
  if (most <= 0) return true
  const last = await tx.get(`SELECT FROM ${table} WHERE account = (SELECT key FROM account WHERE id = $1) LIMIT 1 OFFSET $2`, [
    account,
    most - 1
  ])
  return last !== undefined
}

/** Throws if an account would exceed its bytes of messages, attachments and artifacts together. */
export async function mayKeep(tx: Queries, account: AccountId, added: number, { bytes: most }: Pick<Quotas, 'bytes'>): Promise<void> {
  if (added <= 0 || !Number.isFinite(most)) return
  const row = await tx.get<{ held: number }>('SELECT bytes + attachment_bytes + artifact_bytes AS held FROM account WHERE id = $1', [
    account
  ])
  if ((row?.held ?? 0) + added > most) throw new OverQuota('bytes')
}

/**
 * A write as part of a member, which throws, and so is rolled back, if the account would then have more state than
 * allowed, and more than before.
 */
export async function withinState<T>(
  tx: Queries,
  account: AccountId,
  { stateBytes: most }: Pick<Quotas, 'stateBytes'>,
  write: () => Promise<T>
): Promise<T> {
  if (!Number.isFinite(most)) return write()
  const before = await stateOf(tx, account)
  const written = await write()
  const now = await stateOf(tx, account)
  if (now > before && now > most) throw new OverQuota('stateBytes')
  return written
}

async function stateOf(tx: Queries, account: AccountId): Promise<number> {
  const row = await tx.get<{ held: number }>('SELECT state_bytes AS held FROM account WHERE id = $1', [account])
  return row?.held ?? 0
}
