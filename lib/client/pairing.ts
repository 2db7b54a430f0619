import type { Clock } from '../async/clock.ts'
import type { Bytes } from '../crypto/bytes.ts'
import type { Fetch, Rest } from './rest.ts'
import type { AccountVault, TerminalKeys } from './vault.ts'

export interface PairingOptions {
  server: string
  fetch: Fetch
  clock?: Clock | undefined
  /** Called when the network goes and when it is back, for a line on the screen. */
  onTrouble?: ((trouble: string | undefined) => void) | undefined
}

/** How a request ended. `expired`: nobody answered in time, or the answer was handed out before; start a new one. */
export type PairingEnd<Keys> = { type: 'paired'; token: string; keys: Keys } | { type: 'expired' } | { type: 'unreadable' }

export interface TerminalPairing {
  /** `<server>/terminal/connect#key=…`: opens our app. */
  readonly link: string
  /** `happy://terminal?…`: opens existing apps. */
  readonly happyLink: string
  readonly publicKey: Bytes
  /** Asks once a second until answered; tolerates a lost network. Rejects with the reason of `signal`, or `Refused`. */
  wait(signal?: AbortSignal): Promise<PairingEnd<TerminalKeys>>
}

export interface DeviceLinking {
  /** `happy:///account?…`, shown to a device that has the account. */
  readonly link: string
  readonly publicKey: Bytes
  /** `keys.secret` is the account secret. */
  wait(signal?: AbortSignal): Promise<PairingEnd<{ secret: Bytes }>>
}

/** On the terminal. Call after `cryptoReady()`. */
export declare function startPairing(options: PairingOptions): TerminalPairing
/** On a new device that shall have the whole account. */
export declare function startDeviceLinking(options: PairingOptions): DeviceLinking

/** What a person scanned or pasted. `server` is there for links of our own form and says for whom it is. */
export interface ReadLink {
  type: 'terminal' | 'device'
  publicKey: Bytes
  server: string | undefined
}

/** Undefined for any other text. */
export declare function readLink(text: string): ReadLink | undefined

/** On the app: `gone` also stands for expired and for never there. `supportsV2: false` means the answer hands over the account secret. */
export declare function readPairingStatus(
  rest: Pick<Rest, 'call'>,
  publicKey: Uint8Array
): Promise<{ status: 'waiting'; supportsV2: boolean } | { status: 'answered' } | { status: 'gone' }>

/** Gives a terminal the key to write to, or, without v2, the account secret. Rejects with `Refused` 404 (gone) or 409 (answered by another). */
export declare function answerPairing(options: {
  rest: Pick<Rest, 'call'>
  vault: AccountVault
  publicKey: Uint8Array
  supportsV2: boolean
}): Promise<void>

/** Gives a new device the account secret. */
export declare function answerDeviceLinking(options: {
  rest: Pick<Rest, 'call'>
  vault: AccountVault
  publicKey: Uint8Array
}): Promise<void>
