import type { AccountId, DeviceId, TokenId } from '../../lib/protocol/wire/ids.ts'
import { type KeptScopes, withScopes } from '../../lib/store/access/scopes.ts'
import { deviceIdleMs, type Expired, revocationKeptMs, revocationRecentMs, type TokenMark } from '../../lib/store/access/tokens.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Bearer, DeviceDraft, TokenDraft, TokenRow } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps, Queries } from '../engine/deps.ts'
import { withinState } from '../engine/quotas.ts'
import { storeTime } from '../engine/time.ts'
import { endTokens, removeWholeDevice } from './devices.ts'

const accountKey = '(SELECT key FROM account WHERE id = $1)'

/** The approximate size of a token. */
const tokenBytes = 300

/** The tokens of an account, stored only as hashes. */
export function tokens({
  write,
  read,
  snapshot
}: Deps): Pick<
  Store,
  'findBearer' | 'listTokens' | 'revokeToken' | 'markTokensUsed' | 'addToken' | 'recentRevocations' | 'countExpired' | 'endExpiredTokens'
> {
  return {
    findBearer: hash =>
      read(async queries => {
        const row = await queries.get<KeptScopes<Bearer>>(
          `SELECT account.id AS account, token.id AS token, token.kind, scopes, device.id AS device, expires_at AS "expiresAt", idle_ms AS "idleMs"
           FROM token JOIN account ON account.key = token.account LEFT JOIN device ON device.key = token.device WHERE hash = $1`,
          [hash]
        )
        return row ? withScopes(row) : 'missing'
      }),
    listTokens: account =>
      read(async queries => {
        const rows = await queries.all<KeptScopes<TokenRow>>(
          `SELECT id, label, scopes, created_at AS "createdAt", last_used_at AS "lastUsedAt", last_used_from AS "lastUsedFrom", expires_at AS "expiresAt"
           FROM token WHERE account = ${accountKey} AND kind = 'named' ORDER BY key DESC`,
          [account]
        )
        return rows.map(withScopes)
      }),
    revokeToken: (account, token) =>
      write(account, async tx => {
        const ended = await endTokens(tx, `account = ${accountKey} AND id = $2`, [account, token])
        return ended.length > 0 ? ('revoked' as const) : ('missing' as const)
      }),
    async markTokensUsed(marks) {
      const used = lastOfEach(marks)
      const accounts = await read(queries => accountsWith(queries, 'SELECT account FROM token WHERE id = ANY($1::text[])', [used.tokens]))
      if (accounts.length > 0) await write(accounts, tx => markUsed(tx, accounts, used))
    },
    addToken: (account, draft, quotas = noQuotas) =>
      write(account, tx => withinState(tx, account, quotas, async () => void (await storeToken(tx, account, draft))), {
        bytes: tokenBytes
      }),
    recentRevocations: () =>
      read(async queries => {
        const rows = await queries.all<{ token: TokenId }>(`SELECT token FROM revocation WHERE at > ${storeTime} - $1::bigint`, [
          revocationRecentMs
        ])
        return rows.map(({ token }) => token)
      }),
    countExpired: now => snapshot(queries => countExpired(queries, Math.floor(now))),
    // Called every two seconds, and almost never has anything to write.
    async endExpiredTokens(now) {
      const at = Math.floor(now)
      const accounts = await snapshot(async queries => ((await isAnyExpired(queries, at)) ? accountsThatExpire(queries, at) : []))
      return accounts.length > 0 ? write(accounts, tx => endExpired(tx, accounts, at)) : []
    }
  }
}

/** What was used, in the order of the last uses. */
interface Used {
  tokens: TokenId[]
  at: number[]
  from: string[]
}

/** A token that is marked again gets the later time, and the last network. */
function lastOfEach(marks: readonly TokenMark[]): Used {
  const last = new Map<TokenId, TokenMark>()
  for (const mark of marks) {
    const at = Math.max(Math.floor(mark.at), last.get(mark.token)?.at ?? 0)
    last.delete(mark.token)
    last.set(mark.token, { ...mark, at })
  }
  const all = [...last.values()]
  return { tokens: all.map(({ token }) => token), at: all.map(({ at }) => at), from: all.map(({ from }) => from) }
}

async function markUsed(tx: Queries, accounts: readonly AccountId[], { tokens, at, from }: Used): Promise<void> {
  const values = [tokens, at, from, accounts]
  await tx.run(
    `UPDATE token SET last_used_at = greatest(last_used_at, mark.at), last_used_from = mark.origin,
       expires_at = CASE WHEN idle_ms IS NULL OR expires_at IS NULL THEN expires_at ELSE greatest(expires_at, mark.at + idle_ms) END
     FROM unnest($1::text[], $2::bigint[], $3::text[]) AS mark (id, at, origin)
     WHERE token.id = mark.id AND token.account = ANY(${accountKeys('$4')})`,
    values
  )
  await tx.run(
    `UPDATE device SET last_used_at = greatest(last_used_at, used.at), last_used_from = used.origin
     FROM (SELECT token.device, max(mark.at) AS at, (array_agg(mark.origin ORDER BY mark.nth DESC))[1] AS origin
       FROM unnest($1::text[], $2::bigint[], $3::text[]) WITH ORDINALITY AS mark (id, at, origin, nth) JOIN token ON token.id = mark.id
       WHERE token.account = ANY(${accountKeys('$4')}) GROUP BY token.device) AS used
     WHERE device.key = used.device`,
    values
  )
}

const isIdle = 'public_key IS NOT NULL AND last_used_at < $2'

function accountsThatExpire(queries: Queries, now: number): Promise<AccountId[]> {
  return accountsWith(queries, `SELECT account FROM token WHERE expires_at <= $1 UNION SELECT account FROM device WHERE ${isIdle}`, [
    now,
    now - deviceIdleMs
  ])
}

async function endExpired(tx: Queries, accounts: readonly AccountId[], now: number): Promise<TokenId[]> {
  const ended = await endTokens(tx, `expires_at <= $1 AND account = ANY(${accountKeys('$2')})`, [now, accounts])
  await tx.run(
    'DELETE FROM device WHERE key = ANY($1::bigint[]) AND public_key IS NULL AND NOT EXISTS (SELECT 1 FROM token WHERE device = device.key)',
    [ended.flatMap(({ device }) => device ?? [])]
  )
  await tx.run(`DELETE FROM device WHERE account = ANY(${accountKeys('$1')}) AND ${isIdle}`, [accounts, now - deviceIdleMs])
  await tx.run(`DELETE FROM revocation WHERE at < ${storeTime} - $1::bigint`, [revocationKeptMs])
  return ended.map(({ id }) => id)
}

/** Accounts with a key among those that the statement selects. */
async function accountsWith(queries: Queries, keys: string, values: readonly unknown[]): Promise<AccountId[]> {
  const rows = await queries.all<{ id: AccountId }>(`SELECT id FROM account WHERE key IN (${keys})`, values)
  return rows.map(({ id }) => id)
}

/** Of the accounts that the write has locked: rows of others, made since, are left to the next time. */
const accountKeys = (ids: string) => `ARRAY(SELECT key FROM account WHERE id = ANY(${ids}::text[]))`

async function isAnyExpired(queries: Queries, now: number): Promise<boolean> {
  return (await queries.get('SELECT 1 FROM token WHERE expires_at <= $1 LIMIT 1', [now])) !== undefined
}

async function countExpired(queries: Queries, now: number): Promise<Expired> {
  if (!(await isAnyExpired(queries, now))) return { tokens: 0, devices: 0, pushTokens: 0 }
  const counts = await queries.get<Expired>(
    `WITH ending AS (
       SELECT device FROM token WHERE expires_at <= $1 AND (SELECT public_key IS NULL FROM device WHERE key = token.device)
         AND NOT EXISTS (SELECT 1 FROM token AS other WHERE other.device = token.device AND (other.expires_at IS NULL OR other.expires_at > $1))
       UNION SELECT key FROM device WHERE public_key IS NOT NULL AND last_used_at < $2)
     SELECT (SELECT count(*) FROM token WHERE expires_at <= $1) AS tokens, (SELECT count(*) FROM ending) AS devices,
       (SELECT count(*) FROM push_token WHERE device IN (SELECT device FROM ending)) AS "pushTokens"`,
    [now, now - deviceIdleMs]
  )
  if (!counts) throw new Error('Nothing was counted')
  return counts
}

/** The device of a stored token; `isNew` if it was created with it. */
interface StoredDevice {
  id: DeviceId
  isNew: boolean
}

/**
 * Stores a new token of an account, and its device if there is none yet, as part of the caller's
 * transaction.
 */
export async function storeToken(tx: Queries, account: AccountId, draft: TokenDraft): Promise<StoredDevice | undefined> {
  const { id, hash, kind, label, scopes, from, createdAt, expiresAt, idleMs } = draft
  const device = await deviceFor(tx, account, draft)
  await tx.run(
    `INSERT INTO token (account, id, hash, kind, label, scopes, device, created_at, last_used_at, last_used_from, expires_at, idle_ms)
     VALUES (${accountKey}, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10, $11)`,
    [account, id, hash, kind, label, scopes.join(' '), device?.key ?? null, createdAt, from, expiresAt, idleMs]
  )
  if (draft.device && device?.isNew) await makeRoom(tx, account, draft.device)
  return device && { id: device.id, isNew: device.isNew }
}

async function deviceFor(
  tx: Queries,
  account: AccountId,
  { device, kind, label, createdAt, from }: TokenDraft
): Promise<(StoredDevice & { key: number }) | undefined> {
  if (!device) return undefined
  const { id, publicKey } = device
  const known =
    publicKey === null
      ? undefined
      : await tx.get<{ key: number; id: DeviceId }>(`SELECT key, id FROM device WHERE account = ${accountKey} AND public_key = $2`, [
          account,
          publicKey
        ])
  if (known) return { ...known, isNew: false }
  const created = await tx.get<{ key: number }>(
    `INSERT INTO device (account, id, kind, name, public_key, created_at, last_used_at, last_used_from)
     VALUES (${accountKey}, $2, $3, $4, $5, $6, $6, $7) RETURNING key`,
    [account, id, kind, label, publicKey, createdAt, from]
  )
  if (!created) throw new Error('The device was not stored')
  return { key: created.key, id, isNew: true }
}

// For existing clients a rejected token is final, while an unused device loses nothing.
async function makeRoom(tx: Queries, account: AccountId, { id, most = Number.POSITIVE_INFINITY }: DeviceDraft): Promise<void> {
  if (!Number.isFinite(most)) return
  const others = await tx.all<{ id: DeviceId }>(
    `SELECT id FROM device WHERE account = ${accountKey} AND id <> $2 ORDER BY last_used_at DESC, key DESC OFFSET $3`,
    [account, id, Math.max(most - 1, 0)]
  )
  for (const other of others) await removeWholeDevice(tx, account, other.id)
}
