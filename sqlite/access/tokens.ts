import type { Database } from 'better-sqlite3'
import type { AccountId, DeviceId, TokenId } from '../../lib/protocol/wire/ids.ts'
import { type KeptScopes, withScopes } from '../../lib/store/access/scopes.ts'
import { deviceIdleMs, revocationKeptMs, revocationRecentMs } from '../../lib/store/access/tokens.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Bearer, DeviceDraft, TokenDraft, TokenRow } from '../../lib/store/rows.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'
import { stateQuota } from '../engine/quotas.ts'
import { insertRevocation, storeTime, wholeDeviceRemoval } from './devices.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'

/** The approximate size of a token. */
const tokenBytes = 300

/** The tokens of an account, stored only as hashes. */
export function tokens({
  database,
  queue
}: Deps): Pick<
  Store,
  'findBearer' | 'listTokens' | 'revokeToken' | 'markTokensUsed' | 'addToken' | 'recentRevocations' | 'countExpired' | 'endExpiredTokens'
> {
  const find = database.prepare<[string], KeptScopes<Bearer>>(
    `SELECT (SELECT id FROM account WHERE key = token.account) AS account, id AS token, kind, scopes,
       (SELECT id FROM device WHERE key = token.device) AS device, expires_at AS expiresAt, idle_ms AS idleMs
     FROM token WHERE hash = ?`
  )
  const list = database.prepare<[AccountId], KeptScopes<TokenRow>>(
    `SELECT id, label, scopes, created_at AS createdAt, last_used_at AS lastUsedAt, last_used_from AS lastUsedFrom, expires_at AS expiresAt
     FROM token WHERE account = ${accountKey} AND kind = 'named' ORDER BY key DESC`
  )
  const revoke = database.prepare<[AccountId, TokenId]>(`DELETE FROM token WHERE account = ${accountKey} AND id = ?`)
  const markUsed = database.prepare<[number, string, number, TokenId]>(
    `UPDATE token SET last_used_at = max(last_used_at, ?), last_used_from = ?,
       expires_at = CASE WHEN idle_ms IS NULL THEN expires_at ELSE max(expires_at, ? + idle_ms) END WHERE id = ?`
  )
  const markDeviceUsed = database.prepare<[number, string, TokenId]>(
    'UPDATE device SET last_used_at = max(last_used_at, ?), last_used_from = ? WHERE key = (SELECT device FROM token WHERE id = ?)'
  )
  const recent = database.prepare<[], TokenId>(`SELECT token FROM revocation WHERE at > ${storeTime} - ${revocationRecentMs}`).pluck()
  const firstExpired = database.prepare<[number]>('SELECT 1 FROM token WHERE expires_at <= ? LIMIT 1')
  const countExpired = database.prepare<[number], number>('SELECT count(*) FROM token WHERE expires_at <= ?').pluck()
  const endingDevices = database
    .prepare<[number, number], number>(
      `SELECT device FROM token WHERE expires_at <= ? AND (SELECT public_key IS NULL FROM device WHERE key = token.device)
         AND NOT EXISTS (SELECT 1 FROM token AS other WHERE other.device = token.device AND (other.expires_at IS NULL OR other.expires_at > ?))`
    )
    .pluck()
  const idleDevices = database.prepare<[number], number>('SELECT key FROM device WHERE public_key IS NOT NULL AND last_used_at < ?').pluck()
  const countPushTokens = database.prepare<[number], number>('SELECT count(*) FROM push_token WHERE device = ?').pluck()
  const endExpired = database.prepare<[number], { id: TokenId; device: number | null }>(
    'DELETE FROM token WHERE expires_at <= ? RETURNING id, device'
  )
  const forgetDevice = database.prepare<[number]>(
    'DELETE FROM device WHERE key = ? AND public_key IS NULL AND NOT EXISTS (SELECT 1 FROM token WHERE device = device.key)'
  )
  const forgetIdleDevices = database.prepare<[number]>('DELETE FROM device WHERE public_key IS NOT NULL AND last_used_at < ?')
  const forgetRevocations = database.prepare<[]>(`DELETE FROM revocation WHERE at < ${storeTime} - ${revocationKeptMs}`)
  const storeToken = insertToken(database)
  const within = stateQuota(database)
  const noteRevoked = insertRevocation(database)

  function revokeOne(account: AccountId, token: TokenId): 'revoked' | 'missing' {
    if (revoke.run(account, token).changes === 0) return 'missing'
    noteRevoked(token)
    return 'revoked'
  }

  function endAllExpired(now: number): TokenId[] {
    const ended = endExpired.all(now)
    for (const { id, device } of ended) {
      noteRevoked(id)
      if (device !== null) forgetDevice.run(device)
    }
    forgetIdleDevices.run(now - deviceIdleMs)
    forgetRevocations.run()
    return ended.map(({ id }) => id)
  }

  return {
    findBearer: hash =>
      queue.read(() => {
        const row = find.get(hash)
        return row ? withScopes(row) : 'missing'
      }),
    listTokens: account => queue.read(() => list.all(account).map(withScopes)),
    revokeToken: (account, token) => queue.write(() => revokeOne(account, token)),
    markTokensUsed: marks =>
      queue.write(() => {
        for (const { token, at, from } of marks) {
          markUsed.run(Math.floor(at), from, Math.floor(at), token)
          markDeviceUsed.run(Math.floor(at), from, token)
        }
      }),
    addToken: (account, draft, quotas = noQuotas) =>
      queue.write(() => within(account, quotas, () => void storeToken(account, draft)), { bytes: tokenBytes }),
    recentRevocations: () => queue.read(() => recent.all()),
    countExpired: now =>
      queue.read(() => {
        if (firstExpired.get(now) === undefined) return { tokens: 0, devices: 0, pushTokens: 0 }
        const ending = [...new Set([...endingDevices.all(now, now), ...idleDevices.all(now - deviceIdleMs)])]
        const pushTokens = ending.reduce((sum, device) => sum + (countPushTokens.get(device) ?? 0), 0)
        return { tokens: countExpired.get(now) ?? 0, devices: ending.length, pushTokens }
      }),
    // Called every two seconds, and almost never has anything to write.
    async endExpiredTokens(now) {
      const isAny = await queue.read(() => firstExpired.get(now) !== undefined)
      return isAny ? queue.write(() => endAllExpired(now)) : []
    }
  }
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
export function insertToken(database: Database): (account: AccountId, draft: TokenDraft) => StoredDevice | undefined {
  const findDevice = database.prepare<[AccountId, string], { key: number; id: DeviceId }>(
    `SELECT key, id FROM device WHERE account = ${accountKey} AND public_key = ?`
  )
  const insertDevice = database
    .prepare<[AccountId, DeviceId, string, string, string | null, number, number, string], number>(
      `INSERT INTO device (account, id, kind, name, public_key, created_at, last_used_at, last_used_from)
       VALUES (${accountKey}, ?, ?, ?, ?, ?, ?, ?) RETURNING key`
    )
    .pluck()
  const findTooMany = database
    .prepare<[AccountId, DeviceId, number], DeviceId>(
      `SELECT id FROM device WHERE account = ${accountKey} AND id <> ? ORDER BY last_used_at DESC, key DESC LIMIT -1 OFFSET ?`
    )
    .pluck()
  const removeDevice = wholeDeviceRemoval(database)
  const insert = database.prepare<
    [AccountId, TokenId, string, string, string, string, number | null, number, number, string, number | null, number | null]
  >(
    `INSERT INTO token (account, id, hash, kind, label, scopes, device, created_at, last_used_at, last_used_from, expires_at, idle_ms)
     VALUES (${accountKey}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  )

  function deviceFor(
    account: AccountId,
    { device, kind, label, createdAt, from }: TokenDraft
  ): (StoredDevice & { key: number }) | undefined {
    if (!device) return undefined
    const { id, publicKey } = device
    const known = publicKey === null ? undefined : findDevice.get(account, publicKey)
    if (known) return { ...known, isNew: false }
    const key = insertDevice.get(account, id, kind, label, publicKey, createdAt, createdAt, from)
    if (key === undefined) throw new Error('The device was not stored')
    return { key, id, isNew: true }
  }

  // For existing clients a rejected token is final, while an unused device loses nothing.
  function makeRoom(account: AccountId, { id, most = Number.POSITIVE_INFINITY }: DeviceDraft): void {
    if (!Number.isFinite(most)) return
    for (const other of findTooMany.all(account, id, Math.max(most - 1, 0))) removeDevice(account, other)
  }

  return (account, draft) => {
    const { id, hash, kind, label, scopes, from, createdAt, expiresAt, idleMs } = draft
    const device = deviceFor(account, draft)
    insert.run(account, id, hash, kind, label, scopes.join(' '), device?.key ?? null, createdAt, createdAt, from, expiresAt, idleMs)
    if (draft.device && device?.isNew) makeRoom(account, draft.device)
    return device && { id: device.id, isNew: device.isNew }
  }
}
