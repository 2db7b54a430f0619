import { hash } from 'node:crypto'
import { failure } from '../../../protocol/wire/failures.ts'
import type { AccountId, DeviceId } from '../../../protocol/wire/ids.ts'
import type { BodyOf } from '../../../protocol/wire/routes.ts'
import type { Deps } from '../../deps.ts'
import type { Limits } from '../../limits.ts'
import { announceDevice, type TellDeps } from '../account/devices.ts'
import { findSignupCondition, type Newcomer, type SignupPolicy } from '../account/signup.ts'
import { mintToken, type NewToken } from '../account/tokens.ts'
import { readChallengeClaim } from './signatures.ts'

export type EnterDeps = TellDeps & Pick<Deps, 'newId' | 'quotas'> & { signup: SignupPolicy; limits: Limits }
export type From = Pick<Newcomer, 'client' | 'address' | 'network'>

/** Signs in with a signature over a challenge the client chose; each challenge of a key is valid once, ever. */
export async function signIn(deps: EnterDeps, body: BodyOf<'signIn'>, from: From): Promise<{ token: string }> {
  const { publicKey, challenge } = readChallengeClaim(body)
  const challengeHash = hash('sha256', Buffer.concat([Buffer.from('v1'), publicKey, challenge]), 'base64url')
  const { token } = await enter(deps, { publicKey, challengeHash }, body, from)
  return { token: token.text }
}

/** Who proved that they hold the key of an account, and how. */
interface Proof {
  publicKey: Buffer
  challengeHash: string
  fresh?: boolean
  /** base64 of the key with which the device renews its token. */
  deviceKey?: string
}

/** Lets the owner of a key in, or creates the account if the sign-up policy allows it. */
export async function enter(
  deps: EnterDeps,
  { publicKey: keyBytes, challengeHash, fresh = false, deviceKey }: Proof,
  { setupCode, invite, deviceName }: Pick<BodyOf<'signIn'>, 'setupCode' | 'invite' | 'deviceName'>,
  from: From
): Promise<{ account: AccountId; device: DeviceId | undefined; token: NewToken }> {
  const { store, signup, limits, time, newId } = deps
  const publicKey = keyBytes.toString('hex').toUpperCase()
  limits.check('loginOfKey', publicKey)
  const newcomer = { publicKey, setupCode, invite, ...from }
  const create = await findSignupCondition(deps, newcomer)

  const label = deviceName ?? from.client
  let token: NewToken | undefined
  const outcome = await store.signIn({
    publicKey,
    challengeHash,
    fresh,
    create,
    newAccount: newId() as AccountId,
    token: account => {
      const mostDevices = deps.quotas(account).devices
      token = mintToken(deps, account, { kind: 'account', label, from: from.network, deviceKey, mostDevices })
      return token.draft
    },
    now: time()
  })
  // A used challenge is answered like a bad signature: a replay reveals nothing.
  if (outcome.result === 'challenge-used') throw failure('bad-signature')
  // Only now is it proven that the owner of the key asks; otherwise anyone who captured a sign-in could
  // use up their limit.
  limits.charge('loginOfKey', publicKey, 1)
  if (outcome.result === 'unknown-key') throw await signup.refusal(newcomer, create)
  if (outcome.result !== 'signed-in') throw failure(outcome.result === 'held' ? 'login-held' : 'legacy-login-off')
  if (outcome.created) signup.accountCreated()
  if (!token) throw new Error('The store signed in without creating a token.')
  const { account, device } = outcome
  if (!outcome.created && device?.isNew) announceDevice(deps, account, { id: device.id, kind: 'account', name: label })
  return { account, device: device?.id, token }
}
