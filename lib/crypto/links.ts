import { canReceiveBoxes } from './boxes.ts'
import { fromBase64, toBase64Url } from './bytes.ts'
import type { Bytes } from './engine.ts'

/** `publicKey` is the asker's X25519 key, for which the answer is sealed. */
export interface PairingLink {
  type: 'terminal' | 'account'
  publicKey: Bytes
}

/** Shown by a wrapper as a QR code. */
export function formatTerminalLink(publicKey: Uint8Array): string {
  return `happy://terminal?${toBase64Url(publicKey)}`
}

/**
 * The same for a browser; the key is in the fragment, which no server sees. `webUrl` is where the app
 * is, with or without a trailing slash.
 */
export function formatWebTerminalLink(webUrl: string, publicKey: Uint8Array): string {
  return `${webUrl.replace(/\/+$/, '')}/terminal/connect#key=${toBase64Url(publicKey)}`
}

/** What a new device shows to one that already has the account. */
export function formatAccountLink(publicKey: Uint8Array): string {
  return `happy:///account?${toBase64Url(publicKey)}`
}

/**
 * Any of the three, scanned or pasted; undefined for every other text and for keys that cannot receive
 * an answer.
 */
export function readPairingLink(text: string): PairingLink | undefined {
  const trimmed = text.trim()
  for (const { type, form } of forms) {
    const key = form.exec(trimmed)?.[1]
    const publicKey = key === undefined ? undefined : fromBase64(key)
    if (publicKey && canReceiveBoxes(publicKey)) return { type, publicKey }
  }
  return undefined
}

/** A request with a check code, as its link names it. */
export interface RequestLink {
  /** What the asker is to get: the write key, or the whole account. */
  kind: 'terminal' | 'device'
  id: string
  /** `keyPrint` of the asker's key: the whole key would make a code too large for a terminal of 24 lines. */
  keyPrint: Bytes
  /** 16 bytes that no server sees. */
  linkSecret: Bytes
  /** The server it is for. */
  server: string
}

/** For our own app; everything is in the fragment, which no server sees. */
export function formatRequestLink(webUrl: string, { kind, id, keyPrint, linkSecret }: Omit<RequestLink, 'server'>): string {
  const parts = [kind === 'terminal' ? 't' : 'd', id, toBase64Url(keyPrint), toBase64Url(linkSecret)]
  return `${webUrl.replace(/\/+$/, '')}/terminal/connect#v2=${parts.join('.')}`
}

/** Undefined for every other text. */
export function readRequestLink(text: string): RequestLink | undefined {
  const parts = /^(https?:\/\/[^\s#]+)\/terminal\/connect#v2=([td])\.([\w-]{1,64})\.([\w-]{22})\.([\w-]{22})$/i.exec(text.trim())
  const [, server = '', kind = '', id = '', print = '', secret = ''] = parts ?? []
  const keyPrint = fromBase64(print)
  const linkSecret = fromBase64(secret)
  if (!parts || !keyPrint || !linkSecret) return undefined
  return { kind: kind.toLowerCase() === 't' ? 'terminal' : 'device', id, keyPrint, linkSecret, server }
}

const forms: readonly { type: PairingLink['type']; form: RegExp }[] = [
  { type: 'terminal', form: /^happy:\/\/terminal\/?\?([\w+/-]{43}=?)$/i },
  { type: 'account', form: /^happy:\/\/\/account\/?\?([\w+/-]{43}=?)$/i },
  { type: 'terminal', form: /^https?:\/\/[^\s#]+\/terminal\/connect#key=([\w+/-]{43}=?)$/i }
]
