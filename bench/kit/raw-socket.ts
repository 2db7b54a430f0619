import { openTcp } from './raw-http.ts'

interface RawSocket {
  send(text: string): void
  /** Stops reading, silently. */
  stall(): void
  close(): void
  closed: Promise<void>
}

interface RawSocketOptions {
  port: number
  auth: Record<string, unknown>
  /** Each Socket.IO packet after the handshake, unchanged. Pings are answered here. */
  onPacket?: (packet: Buffer) => void
  localAddress?: string | undefined
}

const whole = 0x80
const opcodes = { more: 0, text: 1 } as const

/** A Socket.IO connection without a library, so that the load generator costs as little as possible. Resolves when accepted. */
export async function openRawSocket({ port, auth, onPacket, localAddress }: RawSocketOptions): Promise<RawSocket> {
  const socket = await openTcp(port, localAddress)
  const { promise: letIn, resolve, reject } = Promise.withResolvers<void>()
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  let rest: Buffer = Buffer.alloc(0)
  let begun: Buffer[] = []
  let isUpgraded = false

  const send = (text: string) => void socket.write(frameOf(text))
  const take = (packet: Buffer) => {
    const [engine, kind] = packet
    if (engine === 0x30) send(`40${JSON.stringify(auth)}`)
    else if (engine === 0x32) send('3')
    else if (engine === 0x34 && kind === 0x30) resolve()
    else if (engine === 0x34 && kind === 0x34) reject(new Error(`Not let in: ${packet}`))
    else onPacket?.(packet)
  }
  // Large packets come in parts.
  const takePart = ({ isLast, payload }: { isLast: boolean; payload: Buffer }) => {
    begun.push(payload)
    if (!isLast) return
    const packet = begun.length === 1 ? payload : Buffer.concat(begun)
    begun = []
    take(packet)
  }
  socket.on('data', (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    if (!isUpgraded) {
      const end = rest.indexOf('\r\n\r\n')
      if (end === -1) return
      isUpgraded = true
      rest = rest.subarray(end + 4)
    }
    for (let frame = firstFrame(rest); frame; frame = firstFrame(rest)) {
      rest = rest.subarray(frame.end)
      if (frame.opcode === opcodes.text || frame.opcode === opcodes.more) takePart(frame)
    }
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    reject(new Error('The connection ended before it was let in.'))
    onClosed()
  })
  socket.write(
    'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: Upgrade\r\n' +
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n\r\n'
  )
  await letIn
  return { send, stall: () => void socket.pause(), close: () => void socket.destroy(), closed }
}

// A zero mask is valid, and saves the work of applying one.
function frameOf(text: string): Buffer {
  const payload = Buffer.from(text)
  const { length } = payload
  const head = Buffer.alloc(length < 126 ? 6 : length < 65_536 ? 8 : 14)
  head[0] = whole | opcodes.text
  head[1] = 0x80 | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (head.length === 8) head.writeUInt16BE(length, 2)
  if (head.length === 14) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, payload])
}

function firstFrame(bytes: Buffer): { opcode: number; isLast: boolean; payload: Buffer; end: number } | undefined {
  const [first, short] = bytes
  if (first === undefined || short === undefined) return undefined
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < start) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  const end = start + length
  if (bytes.length < end) return undefined
  return { opcode: first & 0x0f, isLast: (first & whole) !== 0, payload: bytes.subarray(start, end), end }
}
