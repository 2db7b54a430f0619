import type { AccountId, DeviceId, TokenId } from '../../lib/protocol/wire/ids.ts'
import type { DeviceRow, DeviceStore } from '../../lib/store/access/devices.ts'
import type { Deps, Queries } from '../engine/deps.ts'
import { storeTime } from '../engine/time.ts'

const accountKey = '(SELECT key FROM account WHERE id = $1)'
const deviceKey = `(SELECT key FROM device WHERE account = ${accountKey} AND id = $2)`

/** Signed-in devices of an account, each with its tokens. */
export function devices({ write, read }: Deps): Pick<DeviceStore, 'listDevices' | 'renameDevice' | 'removeDevice' | 'findDeviceOf'> {
  return {
    listDevices: account =>
      read(queries =>
        queries.all<DeviceRow>(
          `SELECT id, kind, name, public_key IS NOT NULL AS renews, created_at AS "createdAt", last_used_at AS "lastUsedAt", last_used_from AS "lastUsedFrom"
           FROM device WHERE account = ${accountKey} ORDER BY last_used_at DESC, key DESC`,
          [account]
        )
      ),
    renameDevice: (account, device, name) =>
      write(account, async tx => {
        const renamed = await tx.run(`UPDATE device SET name = $3 WHERE account = ${accountKey} AND id = $2`, [account, device, name])
        return renamed > 0 ? ('renamed' as const) : ('missing' as const)
      }),
    removeDevice: (account, device) => write(account, tx => removeWholeDevice(tx, account, device)),
    findDeviceOf: (account, token) =>
      read(async queries => {
        const row = await queries.get<{ device: DeviceId | null }>(
          `SELECT (SELECT id FROM device WHERE key = token.device) AS device FROM token WHERE account = ${accountKey} AND id = $2`,
          [account, token]
        )
        return row ? (row.device ?? 'none') : 'missing'
      })
  }
}

/** Removes a device with its sign-ins and unfetched answers, as part of the caller's transaction. */
export async function removeWholeDevice(tx: Queries, account: AccountId, device: DeviceId): Promise<{ tokens: TokenId[] } | 'missing'> {
  const of = [account, device]
  const tokens = await endTokens(tx, `account = ${accountKey} AND device = ${deviceKey}`, of)
  // The request is over for everyone: a poll finds that it has ended.
  await tx.run(
    `UPDATE pairing SET delivered = true, account = NULL, response = NULL, answered_by = NULL WHERE answered_by = ${deviceKey}`,
    of
  )
  await tx.run(
    `UPDATE pairing_request SET state = 'over', account = NULL, response = NULL, answered_by = NULL WHERE answered_by = ${deviceKey}`,
    of
  )
  await tx.run(`UPDATE pairing_request SET response = NULL, sealed_token = NULL WHERE device = ${deviceKey}`, of)
  // Its push tokens are removed with it by the schema.
  const removed = await tx.run(`DELETE FROM device WHERE account = ${accountKey} AND id = $2`, of)
  return removed > 0 ? { tokens: tokens.map(({ id }) => id) } : 'missing'
}

/** Removes the tokens that the condition is true of and records that they ended, as part of the caller's transaction. */
export async function endTokens(
  tx: Queries,
  condition: string,
  values: readonly unknown[]
): Promise<{ id: TokenId; device: number | null }[]> {
  return tx.all(
    `WITH ended AS (DELETE FROM token WHERE ${condition} RETURNING id, device),
       recorded AS (INSERT INTO revocation (token, at) SELECT id, ${storeTime} FROM ended ON CONFLICT DO NOTHING)
     SELECT id, device FROM ended`,
    values
  )
}
