import type { PushTokenRow } from '../../lib/store/notices.ts'
import { noQuotas } from '../../lib/store/quotas.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'

const inAccount = 'account = (SELECT key FROM account WHERE id = $1)'

/** Where pushes for an account go. The same token may be on several accounts, each seeing only its own. */
export function pushTokens({ write, read }: Deps): Pick<Store, 'addPushToken' | 'listPushTokens' | 'removePushToken'> {
  return {
    addPushToken: (account, { id, token, device = null, now }, { pushTokens: most } = noQuotas) =>
      write(account, async tx => {
        await tx.run(
          `INSERT INTO push_token (account, token, id, device, created_at, updated_at)
           VALUES ((SELECT key FROM account WHERE id = $1), $2, $3, (SELECT key FROM device WHERE id = $4), $5, $5)
           ON CONFLICT (account, digest_of(token)) DO UPDATE SET updated_at = excluded.updated_at, device = excluded.device`,
          [account, token, id, device, now]
        )
        if (!Number.isFinite(most)) return
        // Existing apps register at every start, and retry forever when rejected, so the one registered longest ago makes room.
        await tx.run(
          `DELETE FROM push_token WHERE ${inAccount} AND id IN (
             SELECT id FROM push_token WHERE ${inAccount} ORDER BY updated_at DESC, token OFFSET $2)`,
          [account, most]
        )
      }),
    listPushTokens: account =>
      read(queries =>
        queries.all<PushTokenRow>(
          `SELECT id, token, created_at AS "createdAt", updated_at AS "updatedAt" FROM push_token WHERE ${inAccount}
           ORDER BY created_at DESC, id`,
          [account]
        )
      ),
    removePushToken: (account, token) =>
      write(account, async tx => {
        await tx.run(`DELETE FROM push_token WHERE ${inAccount} AND digest_of(token) = digest_of($2)`, [account, token])
      })
  }
}
