import type { AccountId, DeviceId } from '../../lib/protocol/wire/ids.ts'
import type { PushTokenRow } from '../../lib/store/notices.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'

/** Where pushes for an account go. The same token may be on several accounts, each seeing only its own. */
export function pushTokens({ database, queue }: Deps): Pick<Store, 'addPushToken' | 'listPushTokens' | 'removePushToken'> {
  const add = database.prepare<[AccountId, string, string, DeviceId | null, number, number]>(
    `INSERT INTO push_token (account, token, id, device, created_at, updated_at)
     VALUES (${accountKey}, ?, ?, (SELECT key FROM device WHERE id = ?), ?, ?)
     ON CONFLICT (account, token) DO UPDATE SET updated_at = excluded.updated_at, device = excluded.device`
  )
  const list = database.prepare<[AccountId], PushTokenRow>(
    `SELECT id, token, created_at AS createdAt, updated_at AS updatedAt FROM push_token WHERE account = ${accountKey} ORDER BY created_at DESC, id`
  )
  const remove = database.prepare<[AccountId, string]>(`DELETE FROM push_token WHERE account = ${accountKey} AND token = ?`)

  // Existing apps register at every start, and retry forever when rejected, so the one registered longest
  // ago makes room.
  const keepNewest = database.prepare<[AccountId, AccountId, number]>(
    `DELETE FROM push_token WHERE account = ${accountKey} AND token IN (
       SELECT token FROM push_token WHERE account = ${accountKey} ORDER BY updated_at DESC, token LIMIT -1 OFFSET ?)`
  )

  return {
    addPushToken: (account, { id, token, device = null, now }, { pushTokens: most } = noQuotas) =>
      queue.write(() => {
        add.run(account, token, id, device, now, now)
        if (Number.isFinite(most)) keepNewest.run(account, account, most)
      }),
    listPushTokens: account => queue.read(() => list.all(account)),
    removePushToken: (account, token) =>
      queue.write(() => {
        remove.run(account, token)
      })
  }
}
