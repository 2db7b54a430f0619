import { hash } from 'node:crypto'
import { failure, tooMany } from '../../protocol/wire/failures.ts'
import type { PairingId } from '../../protocol/wire/ids.ts'
import type { BodyOf, ReplyOf } from '../../protocol/wire/routes.ts'
import { decodeBase64 } from '../base64.ts'
import type { Limits } from '../limits.ts'
import type { Caller, Deps } from './deps.ts'
import { type TellDeps, tellOfDevice, tellOfSecondFetch } from './devices.ts'
import type { Identity } from './fresh-login.ts'
import { readApproval, sealToken } from './signatures.ts'
import { mintToken, type NewToken } from './tokens.ts'

const openForMs = 5 * 60_000
const keyLength = 32

/** A terminal or a device asks to be paired; the id is in the link that it shows. */
export async function askPairing(
  deps: Pick<Deps, 'store' | 'newId'> & { identity: Identity; limits: Pick<Limits, 'mostPairings'> },
  body: BodyOf<'askPairing'>,
  from: { client: string; network: string }
): Promise<ReplyOf<'askPairing'>> {
  const { store, newId, identity, limits } = deps
  if (body.origin !== undefined && !identity.isOwnOrigin(body.origin)) throw failure('wrong-origin')
  const id = newId() as PairingId
  const now = await store.time()
  const outcome = await store.addPairingRequest({
    id,
    kind: body.kind,
    name: body.deviceName ?? from.client,
    publicKey: canonical(body.publicKey),
    deviceKey: canonical(body.deviceKey),
    pollHash: canonical(body.pollHash),
    from: from.network,
    about: body.about,
    most: limits.mostPairings,
    endsAt: now + openForMs,
    now
  })
  if (outcome === 'too-many') throw tooMany(openForMs / 1000)
  return { id, expiresInMs: openForMs, serverKeyId: Buffer.from(identity.keyId).toString('base64') }
}

export async function readPairing({ store }: Pick<Deps, 'store'>, caller: Caller, id: PairingId): Promise<ReplyOf<'readPairing'>> {
  const now = await store.time()
  const row = await store.readPairingRequest(id, now)
  if (row === 'unknown') throw failure('pairing-not-found')
  const { kind, name, from, about, publicKey, deviceKey, state, account, endsAt } = row
  const seen = { kind, name, from, publicKey, deviceKey, state, ...(about !== null && { about }) }
  return state === 'waiting'
    ? { ...seen, endsInMs: Math.max(0, Math.round(endsAt - now)) }
    : { ...seen, isYours: account === caller.account }
}

/** Asked once a second by whoever has the secret of the request; to everybody else there is none. */
export async function pollPairingRequest(
  deps: TellDeps & Pick<Deps, 'newId' | 'quotas'>,
  id: PairingId,
  { pollSecret }: BodyOf<'pollPairing'>,
  from: { network: string }
): Promise<ReplyOf<'pollPairing'>> {
  const secret = decodeBase64(pollSecret)
  if (!secret) throw failure('pairing-not-found')
  const asked: { token?: NewToken; publicKey?: string; name?: string } = {}
  const polled = await deps.store.pollPairingRequest({
    id,
    pollHash: hash('sha256', secret, 'base64'),
    now: await deps.store.time(),
    token: (account, { kind, name, publicKey, deviceKey }) => {
      const mostDevices = deps.quotas(account).devices
      const token = mintToken(deps, account, { kind, label: name, from: from.network, deviceKey, mostDevices })
      Object.assign(asked, { token, publicKey, name })
      return token.draft
    }
  })
  if (polled === 'unknown') throw failure('pairing-not-found')
  if (polled.state === 'waiting') return polled
  if (polled.state === 'over') {
    if (polled.again) tellOfSecondFetch(deps, polled.again)
    throw failure('pairing-over')
  }
  const { account, response, device } = polled
  const { token, publicKey = '', name = '' } = asked
  if (!token || device === undefined || token.draft.expiresAt === null) throw new Error('The store delivered a request without a token.')
  tellOfDevice(deps, account, { id: device, kind: token.draft.kind, name })
  return {
    state: 'approved',
    response,
    sealedToken: Buffer.from(sealToken(token.text, Buffer.from(publicKey, 'base64'))).toString('base64'),
    account,
    device,
    expiresInMs: token.draft.expiresAt - token.draft.createdAt
  }
}

/** The key of the account itself has to agree: whoever stole a token lets nobody in with it. */
export async function approvePairing(
  deps: Pick<Deps, 'store'> & { identity: Identity },
  caller: Caller,
  id: PairingId,
  body: BodyOf<'approvePairing'>
): Promise<void> {
  const { store, identity } = deps
  if (!identity.isOwnOrigin(body.origin)) throw failure('wrong-origin')
  const now = await store.time()
  const row = await store.readPairingRequest(id, now)
  if (row === 'unknown') throw failure('pairing-not-found')
  const accountKey = await store.readAccountKey(caller.account)
  if (accountKey === 'missing') throw failure('bad-token')
  const response = readApproval({ id, ...row, ...body, accountKey })
  const outcome = await store.approvePairingRequest({ id, account: caller.account, device: caller.device, response, now })
  if (outcome === 'unknown') throw failure('pairing-not-found')
  if (outcome === 'answered-before') throw failure('pairing-answered')
}

export async function rejectPairing({ store }: Pick<Deps, 'store'>, id: PairingId): Promise<void> {
  const outcome = await store.rejectPairingRequest(id, await store.time())
  if (outcome === 'unknown') throw failure('pairing-not-found')
  if (outcome === 'answered-before') throw failure('pairing-answered')
}

// One key has one text, however the asker spelled it.
function canonical(text: string): string {
  const key = decodeBase64(text)
  if (key?.length !== keyLength) throw failure('bad-public-key')
  return Buffer.from(key).toString('base64')
}
