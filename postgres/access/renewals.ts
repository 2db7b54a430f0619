import type { AccountId, DeviceId, TokenId } from '../../lib/protocol/wire/ids.ts'
import type { DeviceRow } from '../../lib/store/access/devices.ts'
import { type Renewal, type Renewed, renewalGraceMs } from '../../lib/store/access/tokens.ts'
import type { Store } from '../../lib/store/store.ts'
import type { Deps, Queries } from '../engine/deps.ts'
import { spendNonce } from './nonces.ts'
import { storeToken } from './tokens.ts'

const accountKey = '(SELECT key FROM account WHERE id = $1)'

type Renewing = Pick<DeviceRow, 'id' | 'kind' | 'name'>

/** Devices that renew their tokens with their own key. */
export function renewals({ write }: Deps): Pick<Store, 'renewToken'> {
  async function renew(tx: Queries, ask: Renewal): Promise<Renewed> {
    const { account, now } = ask
    if (!(await spendNonce(tx, ask.nonceHash, now))) return { result: 'nonce-used' }
    const device = await tx.get<Renewing>(`SELECT id, kind, name FROM device WHERE account = ${accountKey} AND public_key = $2`, [
      account,
      ask.deviceKey
    ])
    if (!device) return { result: 'unknown-device' }
    const draft = ask.token(device)
    await storeToken(tx, account, draft)
    await endOlderTokens(tx, { account, device: device.id, keep: draft.id, now })
    return { result: 'renewed', device: device.id }
  }

  return { renewToken: ask => write(ask.account, tx => renew(tx, ask)) }
}

interface Keeping {
  account: AccountId
  device: DeviceId
  keep: TokenId
  now: number
}

/**
 * Makes the other tokens of a device expire soon, as part of the caller's transaction. Two tabs that
 * renew at the same time both continue: the previous token stays while it is younger than the grace
 * period.
 */
export async function endOlderTokens(tx: Queries, { account, device, keep, now }: Keeping): Promise<void> {
  const at = Math.floor(now)
  await tx.run(
    // The least of nothing and a time is that time.
    `UPDATE token SET expires_at = least(expires_at, $4) WHERE account = ${accountKey}
       AND device = (SELECT key FROM device WHERE id = $2) AND id <> $3
       AND NOT (key = (SELECT max(key) FROM token AS other WHERE other.device = token.device AND other.id <> $3) AND created_at > $5)`,
    [account, device, keep, at + renewalGraceMs, at - renewalGraceMs]
  )
}
