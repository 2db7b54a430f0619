import { hash } from 'node:crypto'
import { failure, tooMany } from '../../../protocol/wire/failures.ts'
import type { PairingId } from '../../../protocol/wire/ids.ts'
import type { BodyOf, ReplyOf } from '../../../protocol/wire/routes.ts'
import type { PairingRequestRow } from '../../../store/access/pairings.ts'
import { decodeBase64 } from '../../base64.ts'
import type { Caller, Deps } from '../../deps.ts'
import type { Limits } from '../../limits.ts'
import { announceDevice, announceSecondFetch, type TellDeps } from '../account/devices.ts'
import { mintToken } from '../account/tokens.ts'
import type { Identity } from './fresh-login.ts'
import { readApproval, sealToken } from './signatures.ts'

const openForMs = 5 * 60_000
/** No pairing of either kind waits longer, with a little margin. */
export const mostPairingMs = openForMs + 10_000
const keyLength = 32

/** A terminal or device asks to be paired; the id is in the link that it shows. */
export async function askPairing(
  deps: Pick<Deps, 'store' | 'time' | 'newId'> & { identity: Identity; limits: Pick<Limits, 'mostPairings'> },
  body: BodyOf<'askPairing'>,
  from: { client: string; network: string }
): Promise<ReplyOf<'askPairing'>> {
  const { store, time, newId, identity, limits } = deps
  if (body.origin !== undefined && !identity.isOwnOrigin(body.origin)) throw failure('wrong-origin')
  const id = newId() as PairingId
  const now = time()
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

export async function readPairing(
  { store, time }: Pick<Deps, 'store' | 'time'>,
  caller: Caller,
  id: PairingId
): Promise<ReplyOf<'readPairing'>> {
  const now = time()
  const row = await store.readPairingRequest(id, now)
  if (row === 'unknown') throw failure('pairing-not-found')
  const { kind, name, from, about, publicKey, deviceKey, state, account, endsAt } = row
  const seen = { kind, name, from, publicKey, deviceKey, state, ...(about !== null && { about }) }
  return state === 'waiting'
    ? { ...seen, endsInMs: Math.max(0, Math.round(endsAt - now)) }
    : { ...seen, isYours: account === caller.account }
}

/**
 * Polled once a second with the secret of the request, and answered again until it expires: a reply may be
 * lost. Without the secret there is no request, and the account that approved it is told that someone else
 * asked.
 */
export async function pollPairingRequest(
  deps: TellDeps & Pick<Deps, 'newId' | 'quotas'>,
  id: PairingId,
  { pollSecret }: BodyOf<'pollPairing'>,
  from: { network: string }
): Promise<ReplyOf<'pollPairing'>> {
  const secret = decodeBase64(pollSecret) ?? new Uint8Array(0)
  const now = deps.time()
  /** What its first delivery is built from. */
  let asked: PairingRequestRow | undefined
  const polled = await deps.store.pollPairingRequest({
    id,
    pollHash: hash('sha256', secret, 'base64'),
    now,
    token: (account, request) => {
      asked = request
      const { kind, name, publicKey, deviceKey } = request
      const mostDevices = deps.quotas(account).devices
      const { text, draft } = mintToken(deps, account, { kind, label: name, from: from.network, deviceKey, mostDevices })
      return { draft, sealed: Buffer.from(sealToken(text, Buffer.from(publicKey, 'base64'))).toString('base64') }
    }
  })
  if (polled === 'unknown') throw failure('pairing-not-found')
  switch (polled.state) {
    case 'waiting':
      return polled
    case 'over':
      throw failure('pairing-over')
    case 'strange':
      if (polled.alarm) announceSecondFetch(deps, polled.alarm)
      throw failure('pairing-not-found')
    case 'delivered': {
      const { account, device, response, sealedToken, tokenEndsAt } = polled
      if (asked) announceDevice(deps, account, { id: device, kind: asked.kind, name: asked.name })
      return { state: 'approved', response, sealedToken, account, device, expiresInMs: Math.max(0, Math.round(tokenEndsAt - now)) }
    }
  }
}

/** The account key itself has to agree: a stolen token lets nobody in. */
export async function approvePairing(
  deps: Pick<Deps, 'store' | 'time'> & { identity: Identity },
  caller: Caller,
  id: PairingId,
  body: BodyOf<'approvePairing'>
): Promise<void> {
  const { store, time, identity } = deps
  if (!identity.isOwnOrigin(body.origin)) throw failure('wrong-origin')
  const now = time()
  const row = await store.readPairingRequest(id, now)
  if (row === 'unknown') throw failure('pairing-not-found')
  const accountKey = await store.readAccountKey(caller.account)
  if (accountKey === 'missing') throw failure('bad-token')
  const response = readApproval({ id, ...row, ...body, accountKey })
  const outcome = await store.approvePairingRequest({ id, account: caller.account, device: caller.device, response, now })
  if (outcome === 'unknown') throw failure('pairing-not-found')
  if (outcome === 'answered-before') throw failure('pairing-answered')
}

export async function rejectPairing({ store, time }: Pick<Deps, 'store' | 'time'>, id: PairingId): Promise<void> {
  const outcome = await store.rejectPairingRequest(id, time())
  if (outcome === 'unknown') throw failure('pairing-not-found')
  if (outcome === 'answered-before') throw failure('pairing-answered')
}

// One key has one encoding, however the asker wrote it.
function canonical(text: string): string {
  const key = decodeBase64(text)
  if (key?.length !== keyLength) throw failure('bad-public-key')
  return Buffer.from(key).toString('base64')
}
