import type { Database } from 'better-sqlite3'
import type { AccountId, DeviceId, TokenId } from '../../lib/protocol/wire/ids.ts'
import type { DeviceRow } from '../../lib/store/access/devices.ts'
import { type Renewal, type Renewed, renewalGraceMs } from '../../lib/store/access/tokens.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps } from '../engine/deps.ts'
import { spendNonce } from './nonces.ts'
import { insertToken } from './tokens.ts'

const accountKey = '(SELECT key FROM account WHERE id = ?)'

type Renewing = Pick<DeviceRow, 'id' | 'kind' | 'name'>

/** Devices that renew their tokens with their own key. */
export function renewals({ database, queue }: Deps): Pick<Store, 'renewToken'> {
  const find = database.prepare<[AccountId, string], Renewing>(
    `SELECT id, kind, name FROM device WHERE account = ${accountKey} AND public_key = ?`
  )
  const spend = spendNonce(database)
  const storeToken = insertToken(database)
  const endOlder = endOlderTokens(database)

  function renew(ask: Renewal): Renewed {
    if (!spend(ask.nonceHash, ask.now)) return { result: 'nonce-used' }
    const device = find.get(ask.account, ask.deviceKey)
    if (!device) return { result: 'unknown-device' }
    const draft = ask.token(device)
    storeToken(ask.account, draft)
    endOlder(ask.account, device.id, draft.id, ask.now)
    return { result: 'renewed', device: device.id }
  }

  return { renewToken: ask => queue.write(() => renew(ask)) }
}

/**
 * Makes the other tokens of a device expire soon, as part of the caller's transaction. Two tabs that
 * renew at the same time both continue: the previous token stays while it is younger than the grace
 * period.
 */
export function endOlderTokens(database: Database): (account: AccountId, device: DeviceId, keep: TokenId, now: number) => void {
  const end = database.prepare<[number, AccountId, DeviceId, TokenId, TokenId, number]>(
    `UPDATE token SET expires_at = min(coalesce(expires_at, 9e15), ?) WHERE account = ${accountKey}
       AND device = (SELECT key FROM device WHERE id = ?) AND id <> ?
       AND NOT (key = (SELECT max(key) FROM token AS other WHERE other.device = token.device AND other.id <> ?) AND created_at > ?)`
  )
  return (account, device, keep, now) => {
    const at = Math.floor(now)
    end.run(at + renewalGraceMs, account, device, keep, keep, at - renewalGraceMs)
  }
}
