import type { Database } from 'better-sqlite3'
import type { AccountId } from '../../lib/protocol/wire/ids.ts'
import { OverQuota, type Quotas } from '../../lib/store/quotas.ts'

/**
 * Whether an account already has this many rows: an index scan that stops there, for tables that
 * seldom grow.
 */
export function rowQuota(
  database: Database,
  table: 'session' | 'machine' | 'artifact' | 'kv' | 'usage_report' | 'notice'
): (account: AccountId, most: number) => boolean {
  const last = database.prepare<[AccountId, number]>(
    `SELECT 1 FROM ${table} WHERE account = (SELECT key FROM account WHERE id = ?) LIMIT 1 OFFSET ?`
  )
  return (account, most) => Number.isFinite(most) && (most <= 0 || last.get(account, most - 1) !== undefined)
}

/** Throws if an account would exceed its bytes of messages, attachments and artifacts together. */
export function byteQuota(database: Database): (account: AccountId, added: number, most: Pick<Quotas, 'bytes'>) => void {
  const held = database.prepare<[AccountId], number>('SELECT bytes + attachment_bytes + artifact_bytes FROM account WHERE id = ?').pluck()
  return (account, added, { bytes: most }) => {
    if (added > 0 && Number.isFinite(most) && (held.get(account) ?? 0) + added > most) throw new OverQuota('bytes')
  }
}

/**
 * A write as part of a member, which throws, and so is rolled back, if the account would then have
 * more state than allowed, and more than before.
 */
type StateWrite = <T>(account: AccountId, quotas: Pick<Quotas, 'stateBytes'>, write: () => T) => T

export function stateQuota(database: Database): StateWrite {
  const held = database.prepare<[AccountId], number>('SELECT state_bytes FROM account WHERE id = ?').pluck()
  return (account, { stateBytes: most }, write) => {
    if (!Number.isFinite(most)) return write()
    const before = held.get(account) ?? 0
    const written = write()
    const now = held.get(account) ?? 0
    if (now > before && now > most) throw new OverQuota('stateBytes')
    return written
  }
}
