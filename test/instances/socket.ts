import { WebSocket } from 'ws'
import type { Untyped } from '../kit/person.ts'

interface SocketOptions {
  token: string
  /** One that only sends gets the updates of this session alone, and does not look at them. */
  session?: string | undefined
  patienceMs: number
}

/** A Socket.IO connection as far as these clients need it. A general client takes several times as long for each update. */
export class Socket {
  /** What the server sends, each update parsed. */
  onUpdate: ((update: Untyped) => void) | undefined
  readonly closed: Promise<void>
  readonly #socket: WebSocket
  readonly #patienceMs: number
  readonly #waiting = new Map<string, (isAnswered: boolean) => void>()
  #asked = 0

  private constructor(url: string, { token, session, patienceMs }: SocketOptions, onLetIn: () => void) {
    this.#patienceMs = patienceMs
    this.#socket = new WebSocket(`${url.replace(/^http/, 'ws')}/v1/updates/?EIO=4&transport=websocket`, {
      perMessageDeflate: false,
      handshakeTimeout: patienceMs
    })
    const hello = { token, ...(session !== undefined && { clientType: 'session-scoped', sessionId: session }) }
    this.#socket.on('message', data => {
      const packet = String(data)
      if (packet.startsWith('42')) this.#hear(JSON.parse(packet.slice(2)))
      else if (packet.startsWith('43')) this.#waiting.get(/^43(\d+)/.exec(packet)?.[1] ?? '')?.(true)
      else if (packet.startsWith('0')) this.#socket.send(`40${JSON.stringify(hello)}`)
      else if (packet.startsWith('40')) onLetIn()
      else if (packet.startsWith('2')) this.#socket.send('3')
      else if (packet.startsWith('41') || packet.startsWith('44')) this.disconnect()
    })
    // The end follows it.
    this.#socket.on('error', () => {})
    this.closed = new Promise(resolve => {
      this.#socket.once('close', () => {
        for (const answer of this.#waiting.values()) answer(false)
        resolve()
      })
    })
  }

  /** Undefined if the server does not let it in. */
  static async connect(url: string, options: SocketOptions): Promise<Socket | undefined> {
    const letIn = Promise.withResolvers<boolean>()
    const socket = new Socket(url, options, () => letIn.resolve(true))
    void socket.closed.then(() => letIn.resolve(false))
    const timer = setTimeout(() => letIn.resolve(false), options.patienceMs)
    const isLetIn = await letIn.promise
    clearTimeout(timer)
    if (!isLetIn) socket.disconnect()
    return isLetIn ? socket : undefined
  }

  get isConnected(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  // Of the others, such as that a session fell silent, nothing is promised.
  #hear([event, update]: [string, Untyped]): void {
    if (event === 'update') this.onUpdate?.(update)
  }

  emit(event: string, payload: object): void {
    if (this.isConnected) this.#socket.send(`42${JSON.stringify([event, payload])}`)
  }

  /** Whether the server answered a ping, and so has taken in everything that was sent before. */
  async ping(): Promise<boolean> {
    if (!this.isConnected) return false
    const id = `${this.#asked++}`
    const answer = Promise.withResolvers<boolean>()
    this.#waiting.set(id, answer.resolve)
    const timer = setTimeout(() => answer.resolve(false), this.#patienceMs)
    this.#socket.send(`42${id}["ping"]`)
    const isAnswered = await answer.promise
    clearTimeout(timer)
    this.#waiting.delete(id)
    return isAnswered
  }

  /** From here on nothing is heard of it. */
  disconnect(): void {
    this.onUpdate = undefined
    this.#socket.terminate()
  }
}
