import type { ServerOptions } from '../../../options.ts'
import { failure, tooMany } from '../../../protocol/wire/failures.ts'
import type { BodyOf, ReplyOf } from '../../../protocol/wire/routes.ts'
import type { PairingKind } from '../../../store/access/pairings.ts'
import { subnetOf } from '../../address.ts'
import { decodeBase64 } from '../../base64.ts'
import type { Caller, Deps } from '../../deps.ts'
import type { Limits } from '../../limits.ts'
import { announceDevice, announceSecondFetch, type TellDeps } from '../account/devices.ts'
import { mintToken, type NewToken } from '../account/tokens.ts'

const openForMs = 5 * 60_000
const keyLength = 32

/** A terminal or new device asks to be paired; repeated once a second until it is answered or over. */
export async function pollPairing(
  deps: TellDeps & Pick<Deps, 'newId' | 'quotas'> & { limits: Limits; legacyPairing: ServerOptions['legacyPairing'] },
  kind: PairingKind,
  body: BodyOf<'pollDevicePairing'> & { supportsV2?: boolean | null | undefined },
  from: { client: string; address: string; network: string }
): Promise<ReplyOf<'pollTerminalPairing'>> {
  if (deps.legacyPairing === 'off') throw failure('legacy-pairing-off')
  // A new device always gets the account; a terminal that asks for its key is just old.
  if (deps.legacyPairing === 'no-keys' && kind === 'terminal' && !body.supportsV2) throw failure('legacy-keys-off')
  const now = deps.time()
  const publicKey = canonicalKey(body.publicKey)
  const { status } = await deps.store.readPairing(kind, publicKey, now)
  // Only new requests are counted: for existing clients a rejected poll ends the pairing.
  if (status === 'unknown') deps.limits.take('pairing', subnetOf(from.address))
  const label = body.deviceName ?? from.client
  let token: NewToken | undefined
  const polled = await deps.store.pollPairing({
    kind,
    publicKey,
    supportsV2: body.supportsV2 ?? false,
    from: from.network,
    expiresAt: now + openForMs,
    most: deps.limits.mostPairings,
    now,
    token: account => {
      token = mintToken(deps, account, { kind, label, from: from.network, mostDevices: deps.quotas(account).devices })
      return token.draft
    }
  })
  if (polled.state === 'full') throw tooMany(openForMs / 1000)
  if (polled.state === 'over') {
    if (polled.again) announceSecondFetch(deps, polled.again)
    throw failure('pairing-over')
  }
  if (polled.state === 'waiting' || !token) return { state: 'requested' }
  if (polled.device) announceDevice(deps, polled.account, { id: polled.device, kind, name: label })
  return { state: 'authorized', token: token.text, response: polled.response }
}

export async function readPairingStatus(
  { store, time }: Pick<Deps, 'store' | 'time'>,
  publicKey: string
): Promise<ReplyOf<'readPairingStatus'>> {
  const key = decodeBase64(publicKey)
  if (key?.length !== keyLength) return { status: 'not_found', supportsV2: false }
  const { status, supportsV2 } = await store.readPairing('terminal', Buffer.from(key).toString('base64'), time())
  if (status === 'waiting') return { status: 'pending', supportsV2 }
  return { status: status === 'answered' ? 'authorized' : 'not_found', supportsV2: false }
}

/** The first answer wins; the same account may repeat it, everyone else is told that it came too late. */
export async function answerPairing(
  { store, time }: Pick<Deps, 'store' | 'time'>,
  caller: Caller,
  kind: PairingKind,
  body: BodyOf<'answerTerminalPairing'>
): Promise<void> {
  const outcome = await store.answerPairing({
    kind,
    publicKey: canonicalKey(body.publicKey),
    response: body.response,
    account: caller.account,
    device: caller.device,
    now: time()
  })
  if (outcome === 'unknown') throw failure('pairing-not-found')
  if (outcome === 'answered-before') throw failure('pairing-answered')
}

// One key has one encoding, however the asker wrote it.
function canonicalKey(publicKey: string): string {
  const key = decodeBase64(publicKey)
  if (key?.length !== keyLength) throw failure('bad-public-key')
  return Buffer.from(key).toString('base64')
}
