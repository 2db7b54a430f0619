import type { Clock } from '../../async/clock.ts'
import { pause } from '../../async/pause.ts'
import {
  type Asker,
  type Bytes,
  canReceiveBoxes,
  checkCode,
  decodeUtf8,
  encodeUtf8,
  engine,
  formatRequestLink,
  fromBase64,
  keyPrint,
  linkSecretLength,
  lockAnswer,
  openAbout,
  openLockedAnswer,
  openToken,
  type PairingAnswer,
  type RequestLink,
  readRequestLink,
  sealAbout,
  sealAnswerV1,
  sealAnswerV2,
  signApproval,
  signInKeypair,
  signingKeypair,
  toBase64
} from '../../crypto/index.ts'
import { type AskerAbout, askerAbout } from '../../protocol/sealed/asker.ts'
import { pairingId } from '../../protocol/wire/ids.ts'
import type { ReplyOf } from '../../protocol/wire/routes.ts'
import * as v from '../../schema.ts'
import { mayRetry, Refused } from '../link/refusals.ts'
import { createRest, type Rest } from '../link/rest.ts'
import type { AccountVault } from '../sealed/vault.ts'
import type { PairingOptions } from './pairing.ts'
import { newDeviceSeed, type SignedIn, wantsLegacy } from './token-keeper.ts'

export { type RequestLink, readRequestLink }

/** How a request ended. `expired`: nobody answered in time, it was refused, or its answer expired with it. */
export type LinkingEnd = { type: 'paired'; signedIn: SignedIn; answer: PairingAnswer } | { type: 'expired' } | { type: 'unreadable' }

export interface Linking {
  /** `<server>/terminal/connect#v2=…`: opens our app. */
  readonly link: string
  /** Four digits to show next to it, which the approver types. */
  readonly checkCode: string
  /**
   * Polls once a second until answered; tolerates a lost network. Rejects with the reason of `signal`,
   * or `Refused`.
   */
  wait(signal?: AbortSignal): Promise<LinkingEnd>
}

/**
 * On a terminal, or a device that is to get the whole account: asks the server to be paired.
 * `unsupported`: it only knows Happy's pairing, see `startPairing`. Rejects with `Unreachable` or
 * `Refused`. Call after `cryptoReady()`.
 */
export async function startLinking(kind: RequestLink['kind'], options: PairingOptions): Promise<Linking | 'unsupported'> {
  const rest = createRest(options)
  const box = engine.boxKeypair()
  const deviceSeed = newDeviceSeed()
  const device = signingKeypair(bytesOf(deviceSeed))
  const pollSecret = engine.randomBytes(32)
  const linkSecret = engine.randomBytes(linkSecretLength)
  const asker = { publicKey: box.publicKey, deviceKey: device.publicKey }
  const keys = { publicKey: toBase64(box.publicKey), deviceKey: toBase64(device.publicKey), pollHash: toBase64(engine.sha256(pollSecret)) }

  // The device will renew its token at this address, so a server that does not know itself by it cannot
  // pair this way.
  const origin = new URL(rest.server).origin
  const asked = await rest
    .call('askPairing', {
      body: { kind, ...keys, origin, deviceName: options.deviceName?.slice(0, 100), ...sealedAbout(options, linkSecret) }
    })
    .catch(error => {
      if (wantsLegacy(error)) return 'unsupported' as const
      throw error
    })
  if (asked === 'unsupported') return asked
  const { id, serverKeyId } = asked

  const read = (reply: Extract<ReplyOf<'pollPairing'>, { state: 'approved' }>): LinkingEnd => {
    const token = openToken(bytesOf(reply.sealedToken), box.secretKey)
    const answer = openLockedAnswer(bytesOf(reply.response), linkSecret, box.secretKey)
    if (token === undefined || !answer) return { type: 'unreadable' }
    const renewal = { deviceSeed, account: reply.account, serverKeyId, expiresAt: Date.now() + reply.expiresInMs }
    return { type: 'paired', signedIn: { token, renewal }, answer }
  }
  return {
    link: formatRequestLink(rest.server, { kind, id, keyPrint: keyPrint(box.publicKey), linkSecret }),
    checkCode: checkCode(asker, linkSecret),
    wait(signal) {
      const poll = () => rest.call('pollPairing', { params: { id }, body: { pollSecret: toBase64(pollSecret) } }, { signal, timeoutMs })
      return pollUntilApproved(poll, read, options, signal)
    }
  }
}

function sealedAbout({ about }: PairingOptions, linkSecret: Bytes): { about?: string } {
  return about === undefined ? {} : { about: toBase64(sealAbout(encodeUtf8(JSON.stringify(about)), linkSecret)) }
}

const pollEveryMs = 1_000
/** Short, so that a dead connection costs little of a request's five minutes. */
const timeoutMs = 10_000

async function pollUntilApproved(
  poll: () => Promise<ReplyOf<'pollPairing'>>,
  read: (reply: Extract<ReplyOf<'pollPairing'>, { state: 'approved' }>) => LinkingEnd,
  { clock, onTrouble }: { clock?: Clock | undefined; onTrouble?: PairingOptions['onTrouble'] },
  signal: AbortSignal | undefined
): Promise<LinkingEnd> {
  for (let isTroubled = false; ; ) {
    let waitMs = pollEveryMs
    try {
      const reply = await poll()
      if (isTroubled) onTrouble?.(undefined)
      isTroubled = false
      if (reply.state === 'approved') return read(reply)
    } catch (error) {
      if (error instanceof Refused && (error.status === 410 || error.status === 404)) return { type: 'expired' }
      if (!mayRetry(error)) throw error
      onTrouble?.(error.message, error)
      isTroubled = true
      waitMs = Math.max(waitMs, error.retryAfterMs ?? 0)
    }
    await pause(waitMs, { signal, clock })
  }
}

/** What the approver sees of a request. `altered`: the server's keys differ from those in the link. */
export type LinkingView =
  | {
      type: 'waiting'
      name: string
      from: string
      /** The asker's description of itself; undefined if there is none, or the link does not decrypt it. */
      about: AskerAbout | undefined
      endsInMs: number | undefined
      approval: LinkingApproval
    }
  /** `isYours`: by this account; undefined if the server does not say. */
  | { type: 'answered'; name: string; isYours: boolean | undefined }
  | { type: 'gone' }
  | { type: 'altered' }

export interface LinkingApproval {
  /**
   * Approves the asker if these are the digits that it shows. After three wrong attempts the request
   * is refused permanently. Rejects with `Refused`: 404 is gone, 409 answered by another.
   */
  approve(code: string): Promise<'approved' | 'wrong-code' | 'refused'>
  /** Rejects the asker. */
  reject(): Promise<void>
}

const mostTries = 3

/** On the app: asks the server who is behind a link that was scanned, pasted or opened. */
export async function lookAtRequest(given: {
  rest: Pick<Rest, 'call' | 'server'>
  vault: AccountVault
  link: RequestLink
}): Promise<LinkingView> {
  const { rest, link } = given
  const params = { id: v.parse(pairingId, link.id) }
  try {
    const row = await rest.call('readPairing', { params })
    const { name, from, endsInMs, isYours } = row
    if (row.state === 'approved' || row.state === 'delivered') return { type: 'answered', name, isYours }
    if (row.state === 'over') return { type: 'gone' }
    const asker = { publicKey: bytesOf(row.publicKey), deviceKey: bytesOf(row.deviceKey) }
    const isSame = row.kind === link.kind && toBase64(keyPrint(asker.publicKey)) === toBase64(link.keyPrint)
    if (!isSame || !canReceiveBoxes(asker.publicKey) || asker.deviceKey.length !== 32) return { type: 'altered' }
    const about = row.about === undefined ? undefined : openedAbout(row.about, link.linkSecret)
    return { type: 'waiting', name, from, about, endsInMs, approval: approvalOf(given, asker) }
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return { type: 'gone' }
    throw error
  }
}

function openedAbout(sealed: string, linkSecret: Uint8Array): AskerAbout | undefined {
  const opened = openAbout(bytesOf(sealed), linkSecret)
  if (!opened) return undefined
  try {
    return v.parse(askerAbout, JSON.parse(decodeUtf8(opened) ?? ''))
  } catch {
    return undefined
  }
}

function approvalOf(given: Parameters<typeof lookAtRequest>[0], asker: Asker): LinkingApproval {
  const { rest, vault, link } = given
  const params = { id: v.parse(pairingId, link.id) }
  const reject = async () => void (await rest.call('rejectPairing', { params, body: {} }))
  let left = mostTries
  let approved: { response: string; signature: string; origin: string } | undefined

  return {
    reject,
    async approve(code) {
      if (left === 0) return 'refused'
      if (code.replace(/\D/g, '') !== checkCode(asker, link.linkSecret)) {
        left -= 1
        if (left > 0) return 'wrong-code'
        await reject()
        return 'refused'
      }
      // A repeat after a lost reply has the same bytes, so the server recognizes it.
      approved ??= sealedApproval({ rest, vault, link, asker })
      await rest.call('approvePairing', { params, body: approved })
      return 'approved'
    }
  }
}

function sealedApproval({ rest, vault, link, asker }: Parameters<typeof lookAtRequest>[0] & { asker: Asker }) {
  const { publicKey } = asker
  const answer = link.kind === 'device' ? sealAnswerV1(vault.secret, publicKey) : sealAnswerV2(vault.contentPublicKey, publicKey)
  const response = lockAnswer(answer, link.linkSecret)
  const origin = new URL(rest.server).origin
  const signature = signApproval(signInKeypair(vault.secret).secretKey, { id: link.id, asker, response, origin })
  return { response: toBase64(response), signature: toBase64(signature), origin }
}

function bytesOf(text: string): Bytes {
  return fromBase64(text) ?? new Uint8Array(0)
}
