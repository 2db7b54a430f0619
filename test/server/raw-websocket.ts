import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { openTcp } from './raw-http.ts'

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A frame as it is, not as it should be. `reserved` are the three bits before the opcode. */
export interface Frame {
  opcode: number
  payload?: Buffer
  fin?: boolean
  reserved?: number
  isMasked?: boolean
}

/** A WebSocket without a library between: sends what it likes, and reads only when it likes. */
export class RawWebSocket {
  /** Text frames as they came. */
  readonly texts: string[] = []
  /** The code of the close frame, once there is one. */
  closeCode: number | undefined
  readonly #socket: Socket
  #rest = Buffer.alloc(0)
  #parts: Buffer[] = []
  #wake = () => {}
  #isOver = false

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', chunk => this.#read(chunk))
    socket.on('close', () => {
      this.#isOver = true
      this.#wake()
    })
  }

  /** The next text frame that was not taken yet; undefined when the connection has ended. */
  async next(): Promise<string | undefined> {
    while (this.texts.length === 0 && !this.#isOver) await this.#woken()
    return this.texts.shift()
  }

  /** The close code once the connection has ended; undefined when it ended without one. */
  async ended(): Promise<number | undefined> {
    while (!this.#isOver) await this.#woken()
    return this.closeCode
  }

  send(payload: string | Uint8Array, kind: keyof typeof opcodes = 'text'): void {
    this.sendFrame({ opcode: opcodes[kind], payload: Buffer.from(payload) })
  }

  /** One frame of any kind, also one that breaks the rules. */
  sendFrame(frame: Frame): void {
    this.#socket.write(frameOf(frame))
  }

  /** What need not be a frame at all. */
  sendBytes(bytes: Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** The same, no faster than the server takes it. False once the connection has ended. */
  async pour(bytes: Uint8Array): Promise<boolean> {
    if (!this.#isOver && !this.#socket.write(bytes)) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#socket.once('drain', resolve).once('close', resolve)
      await promise
      this.#socket.off('drain', resolve).off('close', resolve)
    }
    return !this.#isOver
  }

  /** A text under a mask of zeros, which costs little to make, no faster than the server takes it. False once the connection has ended. */
  pourText(text: string): Promise<boolean> {
    return this.pour(underZeros('text', Buffer.from(text)))
  }

  pourBytes(bytes: Buffer): Promise<boolean> {
    return this.pour(underZeros('binary', bytes))
  }

  /** Leaves without a word. */
  hangUp(): void {
    this.#socket.destroy()
  }

  /** Stops reading: what the server sends piles up, first in the kernel, then at the server. */
  stall(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  #takePart({ payload, isLast }: { payload: Buffer; isLast: boolean }): void {
    this.#parts.push(payload)
    if (!isLast) return
    this.texts.push(Buffer.concat(this.#parts).toString())
    this.#parts = []
  }

  #woken(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk])
    for (let frame = takeFrame(this.#rest); frame; frame = takeFrame(this.#rest)) {
      this.#rest = this.#rest.subarray(frame.size)
      if (frame.opcode === opcodes.text || frame.opcode === opcodes.continuation) this.#takePart(frame)
      if (frame.opcode === opcodes.close) this.closeCode = frame.payload.length < 2 ? 1005 : frame.payload.readUInt16BE()
    }
    this.#wake()
  }
}

/** The server, an address of this machine to come from, and what else the head says. */
export interface Way {
  port: number
  from?: string
  headers?: Record<string, string>
}

/** Opens the WebSocket of the Socket.IO endpoint; nothing is said on it yet. Rejects when the server answers otherwise, or hangs up. */
export async function openWebSocket(t: Pick<Test, 'teardown'>, server: Way, query = 'EIO=4&transport=websocket'): Promise<RawWebSocket> {
  const socket = await openTcp(t, server)
  const key = randomBytes(16).toString('base64')
  const headers = { host: 'localhost', 'sec-websocket-key': key, 'sec-websocket-version': '13', ...server.headers }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET /v1/updates/?${query} HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${lines.join('')}\r\n`)
  let head = Buffer.alloc(0)
  const hungUp = new AbortController()
  socket.once('close', () => hungUp.abort())
  while (!head.includes('\r\n\r\n')) {
    const [chunk] = await once(socket, 'data', { signal: hungUp.signal }).catch(() => {
      throw new Error('No upgrade: the server hung up without an answer')
    })
    head = Buffer.concat([head, chunk])
  }
  if (!head.toString('latin1').startsWith('HTTP/1.1 101 ')) throw new Error(`No upgrade: ${head.toString('latin1')}`)
  const web = new RawWebSocket(socket)
  socket.emit('data', head.subarray(head.indexOf('\r\n\r\n') + 4))
  return web
}

/** A WebSocket that got through the handshake of Engine.IO and Socket.IO. */
export async function openAccepted(t: Pick<Test, 'teardown'>, server: Way, auth: Record<string, unknown>): Promise<RawWebSocket> {
  const web = await openWebSocket(t, server)
  await web.next()
  web.send(`40${JSON.stringify(auth)}`)
  const answer = await web.next()
  if (!answer?.startsWith('40')) throw new Error(`Not accepted: ${answer}`)
  return web
}

function underZeros(kind: 'text' | 'binary', payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcodes[kind]]), lengthOf(payload.length), Buffer.alloc(4), payload])
}

/** A ping under a mask of zeros, for many of them in one piece. */
export function pingOf(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x80 | opcodes.ping, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}

function frameOf({ opcode, payload = Buffer.alloc(0), fin = true, reserved = 0, isMasked = true }: Frame): Buffer {
  const first = Buffer.from([(fin ? 0x80 : 0) | (reserved << 4) | opcode])
  const length = lengthOf(payload.length)
  if (!isMasked) {
    length[0] = (length[0] ?? 0) & 0x7f
    return Buffer.concat([first, length, payload])
  }
  const mask = randomBytes(4)
  const masked = Buffer.from(payload.map((byte, index) => byte ^ (mask[index & 3] ?? 0)))
  return Buffer.concat([first, length, mask, masked])
}

function lengthOf(length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | length])
  const long = length > 0xffff
  const bytes = Buffer.alloc(long ? 9 : 3)
  bytes[0] = 0x80 | (long ? 127 : 126)
  if (long) bytes.writeBigUInt64BE(BigInt(length), 1)
  else bytes.writeUInt16BE(length, 1)
  return bytes
}

function takeFrame(bytes: Buffer): { opcode: number; isLast: boolean; payload: Buffer; size: number } | undefined {
  const [first, second] = bytes
  if (first === undefined || second === undefined) return undefined
  const short = second & 0x7f
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < start) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  const size = start + length
  return bytes.length < size ? undefined : { opcode: first & 0x0f, isLast: first >= 0x80, payload: bytes.subarray(start, size), size }
}
