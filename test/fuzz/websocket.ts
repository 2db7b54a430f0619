import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { answersWithinMs } from './server.ts'

export const opcodes = { more: 0, text: 1, bytes: 2, close: 8, ping: 9, pong: 10 } as const

/** One WebSocket whose frames are written as bytes: a library would send no malformed one, and costs more than the server. */
export class RawWebSocket {
  /** Hears each text that came in one frame. */
  onText: (text: string) => void = () => {}
  isOpen = true
  readonly closed: Promise<unknown>
  readonly #socket: Socket
  #arrived: Buffer = Buffer.alloc(0)
  #isUpgraded = false

  /** Undefined if the server refused it. */
  static async open(port: number, path: string, onText: (text: string) => void): Promise<RawWebSocket | undefined> {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay(true)
    const webSocket = new RawWebSocket(socket, onText)
    socket.write(upgradeRequest(path))
    const upgraded = Promise.withResolvers<boolean>()
    webSocket.#whenUpgraded = () => upgraded.resolve(true)
    socket.setTimeout(answersWithinMs, () => socket.destroy())
    const isOpen = await Promise.race([upgraded.promise, webSocket.closed.then(() => false)])
    return isOpen ? webSocket : undefined
  }

  #whenUpgraded: () => void = () => {}

  private constructor(socket: Socket, onText: (text: string) => void) {
    this.#socket = socket
    this.onText = onText
    this.closed = once(
      socket.on('error', () => {}),
      'close'
    ).catch(() => {})
    socket.on('close', () => (this.isOpen = false)).on('data', bytes => this.#take(bytes))
  }

  send(...frames: readonly Buffer[]): void {
    if (this.isOpen) this.#socket.write(Buffer.concat(frames))
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    this.#arrived = this.#arrived.length === 0 ? bytes : Buffer.concat([this.#arrived, bytes])
    if (!this.#isUpgraded && !this.#takeHead()) return
    for (;;) {
      const frame = firstFrame(this.#arrived)
      if (!frame) return
      this.#arrived = this.#arrived.subarray(frame.end)
      if (frame.head === (0x80 | opcodes.text)) this.onText(frame.payload.toString())
    }
  }

  #takeHead(): boolean {
    const ends = this.#arrived.indexOf('\r\n\r\n')
    if (ends === -1) return false
    this.#isUpgraded = this.#arrived.toString('latin1', 9, 12) === '101'
    if (!this.#isUpgraded) this.#socket.destroy()
    this.#arrived = this.#arrived.subarray(ends + 4)
    if (this.#isUpgraded) this.#whenUpgraded()
    return this.#isUpgraded
  }
}

export function upgradeRequest(path: string): string {
  return `${[
    `GET ${path} HTTP/1.1`,
    'Host: localhost',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Version: 13'
  ].join('\r\n')}\r\n\r\n`
}

/** As a client sends it; the mask leaves the bytes as they are. `flags` are the bits before the opcode. */
export function frame(opcode: number, payload: string | Uint8Array, { flags = 0x80, isMasked = true, announced = -1 } = {}): Buffer {
  const bytes = Buffer.from(payload as string)
  const length = announced === -1 ? bytes.length : announced
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = flags | opcode
  head[1] = (isMasked ? 0x80 : 0) | (length < 126 ? length : length < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(length, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2)
  return Buffer.concat([head, isMasked ? Buffer.alloc(4) : Buffer.alloc(0), bytes])
}

/** The first that is whole, as a server sends it. */
function firstFrame(bytes: Buffer): { head: number; payload: Buffer; end: number } | undefined {
  if (bytes.length < 2) return undefined
  const short = bytes.readUInt8(1) & 0x7f
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < start) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  const end = start + length
  return bytes.length < end ? undefined : { head: bytes.readUInt8(0), payload: bytes.subarray(start, end), end }
}
