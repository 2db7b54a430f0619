/** Socket.IO 5 packets as they travel in Engine.IO text messages, main namespace only; binary packets are not taken. */
export type Packet =
  | { type: 'connect'; namespace: string; auth: unknown }
  | { type: 'disconnect' }
  | { type: 'event'; ackId: number | undefined; name: string; payload: unknown }
  | { type: 'ack'; ackId: number; reply: unknown }

const mainNamespace = '/'

/** Undefined when the text is no packet a client may send. Never throws. */
export function parsePacket(text: string): Packet | undefined {
  const { namespace, rest } = splitNamespace(text.slice(1))
  if (text[0] !== '0' && namespace !== mainNamespace) return undefined
  switch (text[0]) {
    case '0': {
      const auth = rest === '' ? {} : parseJson(rest)
      return auth === undefined ? undefined : { type: 'connect', namespace, auth }
    }
    case '1':
      return rest === '' ? { type: 'disconnect' } : undefined
    case '2':
      return parseEvent(rest)
    case '3':
      return parseAck(rest)
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

export function ackFrame(ackId: number, reply: unknown): string {
  return `43${ackId}${JSON.stringify([reply])}`
}

export function askFrame(ackId: number, name: string, body: unknown): string {
  return `42${ackId}${JSON.stringify([name, body])}`
}

function parseEvent(text: string): Packet | undefined {
  const { ackId, args } = splitAckId(text)
  const name: unknown = args?.[0]
  if (!args || typeof name !== 'string' || reservedNames.has(name)) return undefined
  return { type: 'event', ackId, name, payload: args[1] }
}

function parseAck(text: string): Packet | undefined {
  const { ackId, args } = splitAckId(text)
  return args && ackId !== undefined ? { type: 'ack', ackId, reply: args[0] } : undefined
}

function splitNamespace(text: string): { namespace: string; rest: string } {
  if (text[0] !== '/') return { namespace: mainNamespace, rest: text }
  const comma = text.indexOf(',')
  const end = comma === -1 ? text.length : comma
  // The query of a namespace is a leftover of older clients and means nothing.
  return { namespace: text.slice(0, end).replace(/\?.*$/s, ''), rest: text.slice(end + 1) }
}

function splitAckId(text: string): { ackId: number | undefined; args: unknown[] | undefined } {
  let end = 0
  while (text.charCodeAt(end) >= 48 && text.charCodeAt(end) <= 57) end += 1
  const ackId = end === 0 ? undefined : Number(text.slice(0, end))
  if (ackId !== undefined && !Number.isSafeInteger(ackId)) return { ackId, args: undefined }
  const args = parseJson(text.slice(end))
  return { ackId, args: Array.isArray(args) ? args : undefined }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Names that Socket.IO itself emits locally; a peer that sends one tries to confuse the other side.
const reservedNames = new Set(['connect', 'connect_error', 'disconnect', 'disconnecting', 'newListener', 'removeListener'])
