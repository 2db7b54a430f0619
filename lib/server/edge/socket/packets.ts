import { type Frame, packetFrame } from '../../hub/frames.ts'
import { parseJson } from '../http/json.ts'

/** Socket.IO 5 packets as sent in Engine.IO messages, main namespace only. */
export type Packet =
  | { type: 'connect'; namespace: string; auth: unknown }
  | { type: 'disconnect' }
  | { type: 'event'; ackId: number | undefined; name: string; payload: unknown }
  | { type: 'ack'; ackId: number; reply: unknown }

/** An event or acknowledgement whose bytes follow in as many messages of their own. */
export interface Unfinished {
  type: 'unfinished'
  attachmentCount: number
  finish(attachments: readonly Uint8Array[]): Packet | undefined
}

const mainNamespace = '/'
const mostAttachments = 10
/** Large data belongs in the attachments: finding their placeholders costs more than parsing plain JSON. */
const mostJsonBesideAttachments = 1024 * 1024

/** Undefined if the text is not a packet a client may send. Never throws. */
export function parsePacket(text: string): Packet | Unfinished | undefined {
  return text[0] === '5' || text[0] === '6' ? parseUnfinished(text) : parseWhole(text, parseJson)
}

type ParseJson = (text: string) => unknown

function parseUnfinished(text: string): Unfinished | undefined {
  const digits = /^.(\d{1,3})-/.exec(text.slice(0, 5))?.[1]
  const attachmentCount = Number(digits)
  if (digits === undefined || attachmentCount < 1 || attachmentCount > mostAttachments) return undefined
  const rest = text.slice(digits.length + 2)
  if (rest.length > mostJsonBesideAttachments) return undefined
  const whole = (text[0] === '5' ? '2' : '3') + rest
  const finish = (attachments: readonly Uint8Array[]) => parseWhole(whole, json => parseJsonAround(json, attachments))
  // Its placeholders are checked before anything is stored for them.
  const isSound = finish(Array.from({ length: attachmentCount }, () => new Uint8Array()))
  return isSound && { type: 'unfinished', attachmentCount, finish }
}

function parseWhole(text: string, parse: ParseJson): Packet | undefined {
  const { namespace, rest } = splitNamespace(text.slice(1))
  if (text[0] !== '0' && namespace !== mainNamespace) return undefined
  switch (text[0]) {
    case '0': {
      const auth = rest === '' ? {} : parse(rest)
      return auth === undefined ? undefined : { type: 'connect', namespace, auth }
    }
    case '1':
      return rest === '' ? { type: 'disconnect' } : undefined
    case '2':
      return parseEvent(rest, parse)
    case '3':
      return parseAck(rest, parse)
    default:
      return undefined
  }
}

export function connectFrame(connection: string): string {
  return `40${JSON.stringify({ sid: connection })}`
}

export function connectErrorFrame(message: string, namespace = mainNamespace): string {
  const where = namespace === mainNamespace ? '' : `${namespace},`
  return `44${where}${JSON.stringify({ message })}`
}

export function ackFrame(ackId: number, reply: unknown): Frame {
  return packetFrame(`43${ackId}`, [reply])
}

export function askFrame(ackId: number, name: string, body: unknown): Frame {
  return packetFrame(`42${ackId}`, [name, body])
}

function parseEvent(text: string, parse: ParseJson): Packet | undefined {
  const { ackId, args } = splitAckId(text, parse)
  const name: unknown = args?.[0]
  if (!args || typeof name !== 'string' || reservedNames.has(name)) return undefined
  return { type: 'event', ackId, name, payload: args[1] }
}

function parseAck(text: string, parse: ParseJson): Packet | undefined {
  const { ackId, args } = splitAckId(text, parse)
  return args && ackId !== undefined ? { type: 'ack', ackId, reply: args[0] } : undefined
}

function splitNamespace(text: string): { namespace: string; rest: string } {
  if (text[0] !== '/') return { namespace: mainNamespace, rest: text }
  const comma = text.indexOf(',')
  const end = comma === -1 ? text.length : comma
  // The query of a namespace is a leftover of older clients and has no meaning.
  return { namespace: text.slice(0, end).replace(/\?.*$/s, ''), rest: text.slice(end + 1) }
}

function splitAckId(text: string, parse: ParseJson): { ackId: number | undefined; args: unknown[] | undefined } {
  let end = 0
  while (text.charCodeAt(end) >= 48 && text.charCodeAt(end) <= 57) end += 1
  const ackId = end === 0 ? undefined : Number(text.slice(0, end))
  if (ackId !== undefined && !Number.isSafeInteger(ackId)) return { ackId, args: undefined }
  const args = parse(text.slice(end))
  return { ackId, args: Array.isArray(args) ? args : undefined }
}

/**
 * JSON with each attachment at its placeholder. Undefined unless every attachment has exactly one, and
 * every placeholder its attachment.
 */
function parseJsonAround(text: string, attachments: readonly Uint8Array[]): unknown {
  const placed = new Set<Uint8Array>()
  const place = (_: string, value: unknown) => {
    if (!isPlaceholder(value)) return value
    const attachment = typeof value.num === 'number' ? attachments[value.num] : undefined
    if (!attachment || placed.has(attachment)) throw new Error('No attachment for this place')
    placed.add(attachment)
    return attachment
  }
  const value = parseJson(text, place)
  return placed.size === attachments.length ? value : undefined
}

function isPlaceholder(value: unknown): value is { num: unknown } {
  return typeof value === 'object' && value !== null && '_placeholder' in value && value._placeholder === true
}

// Names that Socket.IO itself emits locally; a peer that sends one tries to confuse the other side.
const reservedNames = new Set(['connect', 'connect_error', 'disconnect', 'disconnecting', 'newListener', 'removeListener'])
