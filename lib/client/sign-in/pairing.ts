import type { Clock } from '../../async/clock.ts'
import { pause } from '../../async/pause.ts'
import {
  type Bytes,
  engine,
  formatAccountLink,
  formatTerminalLink,
  formatWebTerminalLink,
  fromBase64,
  openAnswer,
  type PairingAnswer,
  readPairingLink,
  sealAnswerV1,
  sealAnswerV2,
  toBase64
} from '../../crypto/index.ts'
import type { AskerAbout } from '../../protocol/sealed/asker.ts'
import type { ReplyOf } from '../../protocol/wire/routes.ts'
import { mayRetry, Refused, type Unreachable } from '../link/refusals.ts'
import { createRest, type Fetch, type Rest } from '../link/rest.ts'
import type { AccountVault, TerminalKeys } from '../sealed/vault.ts'

export interface PairingOptions {
  server: string
  fetch: Fetch
  clock?: Clock | undefined
  /** The name of this device in the list of sign-ins. */
  deviceName?: string | undefined
  /**
   * What this computer tells the holder of its link about itself; only requests with a check code
   * include it.
   */
  about?: AskerAbout | undefined
  /** Called with a sentence, and its error, when the server cannot be reached, and with undefined when it can again. */
  onTrouble?: ((trouble: string | undefined, error?: Refused | Unreachable) => void) | undefined
}

/**
 * How a request ended. `expired`: nobody answered in time, or the answer was delivered before; start a
 * new one.
 */
export type PairingEnd<Keys> = { type: 'paired'; token: string; keys: Keys } | { type: 'expired' } | { type: 'unreadable' }

export interface TerminalPairing {
  /** `<server>/terminal/connect#key=…`: opens our app. */
  readonly link: string
  /** `happy://terminal?…`: opens existing apps. */
  readonly happyLink: string
  readonly publicKey: Bytes
  /**
   * Polls at once, then once a second until answered; tolerates a lost network. Rejects with the
   * reason of `signal`, or `Refused`.
   */
  wait(signal?: AbortSignal): Promise<PairingEnd<TerminalKeys>>
}

export interface DeviceLinking {
  /** `happy:///account?…`, shown to a device that has the account. */
  readonly link: string
  readonly publicKey: Bytes
  /** As for a terminal; `keys.secret` is the account secret. */
  wait(signal?: AbortSignal): Promise<PairingEnd<{ secret: Bytes }>>
}

/**
 * On the terminal. Call after `cryptoReady()`. The app can see the request once `wait` has polled for
 * the first time.
 */
export function startPairing(options: PairingOptions): TerminalPairing {
  const rest = createRest(options)
  const { publicKey, secretKey } = engine.boxKeypair()
  const body = { publicKey: toBase64(publicKey), supportsV2: true, ...nameOf(options) }
  return {
    link: formatWebTerminalLink(rest.server, publicKey),
    happyLink: formatTerminalLink(publicKey),
    publicKey,
    wait: signal =>
      pollUntilAnswered(options, () => rest.call('pollTerminalPairing', { body }, { signal, timeoutMs }), secretKey, terminalKeys, signal)
  }
}

/** On a new device that is to get the whole account. Call after `cryptoReady()`. */
export function startDeviceLinking(options: PairingOptions): DeviceLinking {
  const rest = createRest(options)
  const { publicKey, secretKey } = engine.boxKeypair()
  const body = { publicKey: toBase64(publicKey), ...nameOf(options) }
  return {
    link: formatAccountLink(publicKey),
    publicKey,
    wait: signal =>
      pollUntilAnswered(options, () => rest.call('pollDevicePairing', { body }, { signal, timeoutMs }), secretKey, secretOf, signal)
  }
}

function nameOf({ deviceName }: PairingOptions): { deviceName?: string } {
  return deviceName === undefined ? {} : { deviceName: deviceName.slice(0, 100) }
}

/**
 * A link that a person scanned or pasted. `server` is set for links of our own form and says which
 * server it is for.
 */
export interface ReadLink {
  type: 'terminal' | 'device'
  publicKey: Bytes
  server: string | undefined
}

/** Undefined for any other text. */
export function readLink(text: string): ReadLink | undefined {
  const link = readPairingLink(text)
  if (!link) return undefined
  const server = /^(https?:\/\/[^#]+)\/terminal\/connect#/i.exec(text.trim())?.[1]
  return { type: link.type === 'terminal' ? 'terminal' : 'device', publicKey: link.publicKey, server }
}

/**
 * On the app, for terminals. `supportsV2: false` means the answer hands over the account secret;
 * `gone` also means that it never existed.
 */
export async function readPairingStatus(
  rest: Pick<Rest, 'call'>,
  publicKey: Uint8Array
): Promise<{ status: 'waiting'; supportsV2: boolean } | { status: 'answered' } | { status: 'gone' }> {
  const { status, supportsV2 } = await rest.call('readPairingStatus', { query: { publicKey: toBase64(publicKey) } })
  switch (status) {
    case 'pending':
      return { status: 'waiting', supportsV2 }
    case 'authorized':
      return { status: 'answered' }
    case 'not_found':
      return { status: 'gone' }
  }
}

/**
 * Gives a terminal the write key or, without v2, the account secret. Rejects with `Refused`: 404 is
 * gone, 409 answered by another.
 */
export async function answerPairing(options: {
  rest: Pick<Rest, 'call'>
  vault: AccountVault
  publicKey: Uint8Array
  supportsV2: boolean
}): Promise<void> {
  const { rest, vault, publicKey, supportsV2 } = options
  const answer = supportsV2 ? sealAnswerV2(vault.contentPublicKey, publicKey) : sealAnswerV1(vault.secret, publicKey)
  await rest.call('answerTerminalPairing', { body: { publicKey: toBase64(publicKey), response: toBase64(answer) } })
}

/** Gives a new device the account secret. Rejects like `answerPairing`. */
export async function answerDeviceLinking(options: {
  rest: Pick<Rest, 'call'>
  vault: AccountVault
  publicKey: Uint8Array
}): Promise<void> {
  const { rest, vault, publicKey } = options
  const answer = sealAnswerV1(vault.secret, publicKey)
  await rest.call('answerDevicePairing', { body: { publicKey: toBase64(publicKey), response: toBase64(answer) } })
}

const pollEveryMs = 1_000
/** Short, so that a dead connection costs little of a request's five minutes. */
const timeoutMs = 10_000

async function pollUntilAnswered<Keys>(
  { clock, onTrouble }: PairingOptions,
  poll: () => Promise<ReplyOf<'pollTerminalPairing'>>,
  secretKey: Bytes,
  read: (answer: PairingAnswer) => Keys | undefined,
  signal: AbortSignal | undefined
): Promise<PairingEnd<Keys>> {
  let isTroubled = false
  const tell = (trouble: string | undefined, error?: Refused | Unreachable) => {
    if (trouble !== undefined || isTroubled) onTrouble?.(trouble, error)
    isTroubled = trouble !== undefined
  }
  for (;;) {
    let waitMs = pollEveryMs
    try {
      const reply = await poll()
      tell(undefined)
      if (reply.state === 'authorized') return readAnswer(reply, secretKey, read)
    } catch (error) {
      if (error instanceof Refused && error.status === 410) return { type: 'expired' }
      if (!mayRetry(error)) throw error
      tell(error.message, error)
      waitMs = Math.max(waitMs, error.retryAfterMs ?? 0)
    }
    await pause(waitMs, { signal, clock })
  }
}

function readAnswer<Keys>(
  { token, response }: { token: string; response: string },
  secretKey: Bytes,
  read: (answer: PairingAnswer) => Keys | undefined
): PairingEnd<Keys> {
  const bytes = fromBase64(response)
  const answer = bytes && openAnswer(bytes, secretKey)
  const keys = answer && read(answer)
  return keys ? { type: 'paired', token, keys } : { type: 'unreadable' }
}

/** What a terminal holds after it was answered; the machine's key is made here. */
export function terminalKeys(answer: PairingAnswer): TerminalKeys {
  if (answer.version === 1) return { version: 1, secret: answer.accountSecret }
  return { version: 2, contentPublicKey: answer.contentPublicKey, machineKey: engine.randomBytes(32) }
}

function secretOf(answer: PairingAnswer): { secret: Bytes } | undefined {
  return answer.version === 1 ? { secret: answer.accountSecret } : undefined
}
