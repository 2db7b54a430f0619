import type { Database } from 'better-sqlite3'
import type { AccountId, DeviceId, TokenId } from '../../lib/protocol/wire/ids.ts'
import type { DeviceRow, DeviceStore } from '../../lib/store/access/devices.ts'
import type { Deps } from '../engine/deps.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'
const deviceKey = `(SELECT key FROM device WHERE account = ${accountKey} AND id = ?)`

interface KeptDevice extends Omit<DeviceRow, 'renews'> {
  renews: number
}

/** Signed-in devices of an account, each with its tokens. */
export function devices({ database, queue }: Deps): Pick<DeviceStore, 'listDevices' | 'renameDevice' | 'removeDevice' | 'findDeviceOf'> {
  const list = database.prepare<[AccountId], KeptDevice>(
    `SELECT id, kind, name, public_key IS NOT NULL AS renews, created_at AS createdAt, last_used_at AS lastUsedAt, last_used_from AS lastUsedFrom
     FROM device WHERE account = ${accountKey} ORDER BY last_used_at DESC, key DESC`
  )
  const rename = database.prepare<[string, AccountId, DeviceId]>(`UPDATE device SET name = ? WHERE account = ${accountKey} AND id = ?`)
  const findOf = database
    .prepare<[AccountId, TokenId], DeviceId | null>(
      `SELECT (SELECT id FROM device WHERE key = token.device) FROM token WHERE account = ${accountKey} AND id = ?`
    )
    .pluck()
  const removeWhole = wholeDeviceRemoval(database)

  return {
    listDevices: account => queue.read(() => list.all(account).map(row => ({ ...row, renews: row.renews === 1 }))),
    renameDevice: (account, device, name) =>
      queue.write(() => (rename.run(name, account, device).changes > 0 ? ('renamed' as const) : ('missing' as const))),
    removeDevice: (account, device) => queue.write(() => removeWhole(account, device)),
    findDeviceOf: (account, token) =>
      queue.read(() => {
        const device = findOf.get(account, token)
        return device === undefined ? 'missing' : (device ?? 'none')
      })
  }
}

/** Removes a device with its sign-ins and unfetched answers, as part of the caller's transaction. */
export function wholeDeviceRemoval(database: Database): (account: AccountId, device: DeviceId) => { tokens: TokenId[] } | 'missing' {
  const endTokens = database
    .prepare<[AccountId, AccountId, DeviceId], TokenId>(
      `DELETE FROM token WHERE account = ${accountKey} AND device = ${deviceKey} RETURNING id`
    )
    .pluck()
  // The request is over for everyone: a poll finds that it has ended.
  const endAnswers = database.prepare<[AccountId, DeviceId]>(
    `UPDATE pairing SET delivered = 1, account = NULL, response = NULL, answered_by = NULL WHERE answered_by = ${deviceKey}`
  )
  const endApprovals = database.prepare<[AccountId, DeviceId]>(
    `UPDATE pairing_request SET state = 'over', account = NULL, response = NULL, answered_by = NULL WHERE answered_by = ${deviceKey}`
  )
  const endDeliveries = database.prepare<[AccountId, DeviceId]>(
    `UPDATE pairing_request SET response = NULL, sealed_token = NULL WHERE device = ${deviceKey}`
  )
  const remove = database.prepare<[AccountId, DeviceId]>(`DELETE FROM device WHERE account = ${accountKey} AND id = ?`)
  const noteRevoked = insertRevocation(database)

  return (account, device) => {
    const tokens = endTokens.all(account, account, device)
    for (const token of tokens) noteRevoked(token)
    endAnswers.run(account, device)
    endApprovals.run(account, device)
    endDeliveries.run(account, device)
    // Its push tokens are removed with it by the schema.
    return remove.run(account, device).changes > 0 ? { tokens } : 'missing'
  }
}

/** The clock by which every instance agrees what is recent. */
export const storeTime = "CAST(unixepoch('subsec') * 1000 AS INTEGER)"

/** Records that a token ended, as part of the caller's transaction. */
export function insertRevocation(database: Database): (token: TokenId) => void {
  const insert = database.prepare<[TokenId]>(`INSERT INTO revocation (token, at) VALUES (?, ${storeTime}) ON CONFLICT DO NOTHING`)
  return token => {
    insert.run(token)
  }
}
