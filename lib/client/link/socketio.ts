import type { Clock } from '../../async/clock.ts'
import { plainLine } from '../../protocol/sealed/plain-line.ts'
import { jsonOf } from '../../schema.ts'

/** The part of `WebSocket` used here; those of browsers, of Node.js and of `ws` all fit. */
export type WebSocketClass = new (
  url: string
) => {
  /** 1 while open. */
  readonly readyState: number
  /** Bytes not yet sent to the network. */
  readonly bufferedAmount: number
  addEventListener(event: 'open' | 'error', listener: () => void): void
  addEventListener(event: 'close', listener: (event: { code: number; reason: string }) => void): void
  addEventListener(event: 'message', listener: (event: { data: unknown }) => void): void
  send(text: string): void
  close(): void
}

/** The events of one connection. Nothing follows `onEnd`, or a close from here. */
interface LineListeners {
  /** The server is there and waits for authentication: see `authenticate`. */
  onOpen(): void
  /** The server accepted; `id` names this connection. */
  onConnect(id: string): void
  /** Anything arrived, whatever its content. */
  onPacket(): void
  /** `acknowledge` is set when the server expects an answer. */
  onEvent(event: string, payload: unknown, acknowledge: ((result: unknown) => void) | undefined): void
  /** `reason` is shown in logs. `isRefusal`: the server rejected the sign-in, rather than the connection being lost. */
  onEnd(reason: string, isRefusal: boolean): void
}

interface Waiting {
  resolve(value: unknown): void
  reject(error: Error): void
  cancelTimer(): void
}

/**
 * One connection: Socket.IO 5 over Engine.IO 4 over one WebSocket, as far as JSON events need it.
 * `socket.ts` reconnects, waits and watches for silence. Node.js and browsers use the same code, so
 * what holds for the phone holds for the wrapper.
 */
export class SocketioLine {
  isConnected = false

  readonly #socket: InstanceType<WebSocketClass>
  readonly #clock: Pick<Clock, 'after'>
  readonly #listeners: LineListeners
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0
  #isOpen = false
  #isOver = false

  /** `address` with the path of the socket. Throws if it is not a URL. */
  constructor(address: string, WebSocket: WebSocketClass, clock: Pick<Clock, 'after'>, listeners: LineListeners) {
    this.#clock = clock
    this.#listeners = listeners
    this.#socket = new WebSocket(`${address.replace(/^http/, 'ws')}/?EIO=4&transport=websocket`)
    this.#socket.addEventListener('open', () => {
      this.#isOpen = true
    })
    this.#socket.addEventListener('message', ({ data }) => this.#hear(data))
    // The end follows it. Outside browsers an unhandled error event ends the program.
    this.#socket.addEventListener('error', () => {})
    this.#socket.addEventListener('close', closed => this.#end(this.#isOpen ? reasonOf(closed) : 'websocket error'))
  }

  authenticate(handshake: object): void {
    this.#say(`40${JSON.stringify(handshake)}`)
  }

  /** Earlier data is not sent yet. */
  get isBusy(): boolean {
    return this.#socket.bufferedAmount > 0
  }

  /** Does nothing while not connected. */
  emit(event: string, payload: unknown): void {
    if (this.isConnected) this.#say(`42${JSON.stringify([event, payload])}`)
  }

  /** Resolves to the server's answer. Rejects on a timeout, and as soon as the connection ends. */
  request(event: string, payload: unknown, withinMs: number): Promise<unknown> {
    if (!this.isConnected) return Promise.reject(new Error('The connection has ended.'))
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const id = this.#asked++
    const cancelTimer = this.#clock.after(withinMs, () => {
      this.#waiting.delete(id)
      reject(new Error('There was no answer in time.'))
    })
    this.#waiting.set(id, { resolve, reject, cancelTimer })
    this.#say(`42${id}${JSON.stringify([event, payload])}`)
    return promise
  }

  /** Ends pending requests and nothing else. */
  close(): void {
    if (this.isConnected) this.#say('41')
    this.#leave()
  }

  #hear(packet: unknown): void {
    if (this.#isOver) return
    this.#listeners.onPacket()
    const read = readPacket(packet)
    switch (read.type) {
      case 'open':
        this.#listeners.onOpen()
        break
      case 'ping':
        this.#say('3')
        break
      case 'connect':
        this.isConnected = true
        this.#listeners.onConnect(read.id)
        break
      case 'event':
        this.#listeners.onEvent(
          ...read.content,
          read.id === '' ? undefined : result => this.#say(`43${read.id}${JSON.stringify([result])}`)
        )
        break
      case 'acknowledgement':
        this.#takeAnswer(Number(read.id), read.content[0])
        break
      case 'end':
        this.#end(read.reason, read.isRefusal)
        break
      case 'nothing':
        break
    }
  }

  #say(packet: string): void {
    if (!this.#isOver && this.#socket.readyState === openState) this.#socket.send(packet)
  }

  #takeAnswer(id: number, value: unknown): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.cancelTimer()
    waiting?.resolve(value)
  }

  #end(reason: string, isRefusal = false): void {
    if (this.#leave()) this.#listeners.onEnd(reason, isRefusal)
  }

  /** False if it was already over. */
  #leave(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.isConnected = false
    this.#socket.close()
    for (const { reject, cancelTimer } of this.#waiting.values()) {
      cancelTimer()
      reject(new Error('The connection has ended.'))
    }
    this.#waiting.clear()
    return true
  }
}

const openState = 1

/** Of the close frame: the server names why it ends a connection. A proxy or the network may give only a code. */
function reasonOf({ code, reason }: { code: number; reason: string }): string {
  return `${plainLine(reason) || 'transport close'} (${code})`
}

type Packet =
  | { type: 'open' | 'ping' | 'nothing' }
  | { type: 'connect'; id: string }
  | { type: 'event'; id: string; content: [event: string, payload: unknown] }
  | { type: 'acknowledgement'; id: string; content: unknown[] }
  | { type: 'end'; reason: string; isRefusal: boolean }

const engineTypes: Record<string, Packet> = {
  0: { type: 'open' },
  1: ended('transport close'),
  2: { type: 'ping' },
  6: { type: 'nothing' }
}
const unreadable = ended('parse error')

// Two nested protocols. The content of an event is checked by its listeners.
function readPacket(packet: unknown): Packet {
  const [, engineType = '', type, id = '', json = ''] = /^(\d)([0-4])?(\d*)(.*)$/s.exec(String(packet)) ?? []
  if (engineType !== '4') return engineTypes[engineType] ?? unreadable
  if (type === '1') return ended('io server disconnect')
  const content = jsonOf(json)
  if (type === '0' && isObject(content) && typeof content['sid'] === 'string') return { type: 'connect', id: content['sid'] }
  if (type === '4' && isObject(content)) return { type: 'end', reason: String(content['message']), isRefusal: true }
  if (!Array.isArray(content)) return unreadable
  if (type === '3') return { type: 'acknowledgement', id, content }
  const [event, payload] = content
  return type === '2' && typeof event === 'string' ? { type: 'event', id, content: [event, payload] } : unreadable
}

function ended(reason: string): Packet {
  return { type: 'end', reason, isRefusal: false }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
