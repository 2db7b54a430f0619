import { createHash } from 'node:crypto'

import { failure } from '../../../protocol/wire/failures.ts'
import type { BodyOf, ReplyOf } from '../../../protocol/wire/routes.ts'
import type { Caller, Deps } from '../../deps.ts'
import type { TellDeps } from '../account/devices.ts'
import { mintToken, type NewToken } from '../account/tokens.ts'
import { removeAccount } from '../account/users.ts'
import { type EnterDeps, enter, type From } from './login.ts'
import { createNonces, nonceForMs } from './nonces.ts'
import { identityKeyOf, type Purpose, readServerClaim, type ServerClaim } from './signatures.ts'

/** The server as clients know it: by its own identity and origins. */
export interface Identity {
  /** SHA-256 of the identity key. */
  keyId: Uint8Array
  isOwnOrigin(origin: string): boolean
  issueNonce(): Promise<Uint8Array>
  /** A valid signature over a valid nonce of ours, for one of our origins. Throws the error otherwise. */
  readClaim(claim: ServerClaim, purpose: Purpose): Promise<ReturnType<typeof readServerClaim>>
}

/**
 * Creates the identity at the first start; from then on every instance on this store has it. `fresh`: 32
 * random bytes.
 */
export async function openIdentity(
  { store, time, before }: Pick<Deps, 'time'> & { store: Pick<Deps['store'], 'keepSecret'>; before: () => number | undefined },
  fresh: Uint8Array,
  isOwnOrigin: (origin: string) => boolean
): Promise<Identity> {
  const secret = await store.keepSecret('identity', fresh)
  const keyId = createHash('sha256').update(identityKeyOf(secret)).digest()
  const nonces = createNonces(secret)

  return {
    keyId,
    isOwnOrigin,
    issueNonce: async () => nonces.issue(time()),
    async readClaim(claim, purpose) {
      if (!isOwnOrigin(claim.origin)) throw failure('wrong-origin')
      const read = readServerClaim(claim, keyId, purpose)
      const judgedAt = [time(), before() ?? time()]
      if (!judgedAt.some(at => nonces.isGood(read.nonce, at))) throw failure('bad-nonce')
      return read
    }
  }
}

export async function issueNonce({ identity }: { identity: Identity }): Promise<ReplyOf<'issueNonce'>> {
  const nonce = Buffer.from(await identity.issueNonce()).toString('base64')
  return { nonce, expiresInMs: nonceForMs, serverKeyId: Buffer.from(identity.keyId).toString('base64') }
}

/** Signs in a device with the account key, or gives a signed-in device a new token for its own signature. */
export async function freshSignIn(
  deps: EnterDeps & { identity: Identity },
  body: BodyOf<'freshSignIn'>,
  from: From
): Promise<ReplyOf<'freshSignIn'>> {
  if (body.purpose === 'renew') return renew(deps, body, from)
  const { publicKey, deviceKey, nonceHash } = await deps.identity.readClaim(body, 'sign-in')
  const { account, device, token } = await enter(deps, { publicKey, challengeHash: nonceHash, fresh: true, deviceKey }, body, from)
  return answer(token, account, device)
}

async function renew(
  deps: TellDeps & Pick<Deps, 'newId'> & { identity: Identity },
  body: Extract<BodyOf<'freshSignIn'>, { purpose: 'renew' }>,
  from: From
): Promise<ReplyOf<'freshSignIn'>> {
  const { deviceKey, nonceHash } = await deps.identity.readClaim({ ...body, publicKey: body.deviceKey }, 'renew')
  let token: NewToken | undefined
  const outcome = await deps.store.renewToken({
    account: body.account,
    deviceKey,
    nonceHash,
    token: ({ kind, name }) => {
      token = mintToken(deps, body.account, { kind, label: name, from: from.network, deviceKey })
      return token.draft
    },
    now: deps.time()
  })
  if (outcome.result === 'nonce-used') throw failure('bad-nonce')
  if (outcome.result === 'unknown-device' || !token) throw failure('device-unknown')
  return answer(token, body.account, outcome.device)
}

function answer(
  { text, lastsMs }: NewToken,
  account: ReplyOf<'freshSignIn'>['account'],
  device: ReplyOf<'freshSignIn'>['device'] | undefined
) {
  if (device === undefined || lastsMs === null) throw new Error('The token of a device must expire.')
  return { token: text, account, device, expiresInMs: lastsMs }
}

/**
 * Removes the caller's own account with everything in it. A token alone is not enough: the account key
 * signs it.
 */
export async function removeOwnAccount(
  deps: Parameters<typeof removeAccount>[0] & { identity: Identity },
  caller: Caller,
  claim: BodyOf<'removeOwnAccount'>
): Promise<void> {
  const { publicKey } = await deps.identity.readClaim(claim, 'delete-account')
  if ((await deps.store.readAccountKey(caller.account)) !== publicKey.toString('hex').toUpperCase()) throw failure('bad-signature')
  await removeAccount(deps, caller.account)
}
