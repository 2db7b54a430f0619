import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/** How a reader reads: as fast as it can, so many bytes a second, or nothing. */
type Manner = 'fast' | 'slow' | 'never'

const slowBytesPerS = 8 * 1024 * 1024
const sliceMs = 50
/** As much of a message as tells what it is. */
const headBytes = 512
const opcodes = { close: 0x8, ping: 0x9 } as const

const { port, from, token, manners }: { port: number; from: string; token: string; manners: Manner[] } = workerData

/** Reads a WebSocket without keeping what comes, so that many gigabytes cost the reader little. */
class Reader {
  readonly seqs: number[] = []
  closeCode: number | undefined
  isOver = false
  readonly #socket: Socket
  #head: Buffer = Buffer.alloc(0)
  /** What is left of the frame that comes, and what it is. */
  #left = 0
  #frame = { opcode: 0, isLast: true }
  #words = ''
  #isUpgraded = false

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', chunk => this.#read(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isOver = true
    })
  }

  send(text: string): void {
    const head = Buffer.from([0x81, 0x80 | 126, 0, 0, 0, 0, 0, 0])
    head.writeUInt16BE(text.length, 2)
    this.#socket.write(Buffer.concat([head, Buffer.from(text)]))
  }

  async slowly(): Promise<void> {
    let before = this.#socket.bytesRead
    while (!this.isOver) {
      await delay(sliceMs)
      const isEarly = this.#socket.bytesRead - before >= (slowBytesPerS * sliceMs) / 1000
      if (isEarly) this.#socket.pause()
      else this.#socket.resume()
      if (isEarly) before += (slowBytesPerS * sliceMs) / 1000
      else before = this.#socket.bytesRead
    }
  }

  stall(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  #read(chunk: Buffer): void {
    let rest: Buffer = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
    this.#head = Buffer.alloc(0)
    if (!this.#isUpgraded) {
      const end = rest.indexOf('\r\n\r\n')
      if (end === -1) {
        this.#head = rest
        return
      }
      this.#isUpgraded = true
      rest = rest.subarray(end + 4)
    }
    while (rest.length > 0) {
      if (this.#left === 0) {
        const start = this.#begin(rest)
        if (start === 0) {
          this.#head = rest
          return
        }
        rest = rest.subarray(start)
      }
      const part = rest.subarray(0, this.#left)
      if (this.#words.length < headBytes) this.#words += part.toString('latin1', 0, headBytes)
      this.#left -= part.length
      rest = rest.subarray(part.length)
      if (this.#left === 0) this.#end()
    }
  }

  /** How long the head of the frame is; 0 when it has not come whole. */
  #begin(bytes: Buffer): number {
    const [first = 0, second = 0] = bytes
    const start = second < 126 ? 2 : second === 126 ? 4 : 10
    if (bytes.length < start) return 0
    this.#left = second < 126 ? second : second === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    this.#frame = { opcode: first & 0x0f, isLast: first >= 0x80 }
    if (this.#frame.opcode === opcodes.close && bytes.length >= 4) this.closeCode = bytes.readUInt16BE(2)
    if (this.#left === 0) this.#end()
    return start
  }

  #end(): void {
    const words = this.#words
    const frame = this.#frame
    if (frame.opcode >= opcodes.close || !frame.isLast) return
    this.#words = ''
    if (words === '2') this.send('3')
    else if (words.startsWith('0')) this.send(`40${JSON.stringify({ token })}`)
    const seq = /"t":"new-message".*?"message":\{"id":"[^"]*","seq":(\d+)/.exec(words)?.[1]
    if (seq !== undefined) this.seqs.push(Number(seq))
    if (words.startsWith('40')) this.onAccepted()
  }

  onAccepted = () => {}
}

async function open(manner: Manner): Promise<Reader> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  await once(socket, 'connect')
  const reader = new Reader(socket)
  const accepted = new Promise<void>(resolve => {
    reader.onAccepted = resolve
  })
  socket.write(
    'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n\r\n`
  )
  await accepted
  if (manner === 'never') reader.stall()
  if (manner === 'slow') reader.slowly().catch(() => {})
  return reader
}

const readers = await Promise.all(manners.map(open))
parentPort?.on('message', async ({ until, withinMs }: { until: number; withinMs: number }) => {
  const end = performance.now() + withinMs
  const isDone = (reader: Reader) => reader.isOver || (reader.seqs.at(-1) ?? 0) >= until
  const reading = readers.filter((_, index) => manners[index] !== 'never')
  while (performance.now() < end && !reading.every(isDone)) await delay(20)
  // Who has read nothing until now finds the end of its connection, or all of it.
  for (const reader of readers) reader.resume()
  while (performance.now() < end && !readers.every(isDone)) await delay(20)
  parentPort?.postMessage(readers.map(({ seqs, isOver, closeCode }, index) => ({ manner: manners[index], seqs, isOver, closeCode })))
})
parentPort?.postMessage('ready')
