import { connect, type Socket } from 'node:net'

export interface Answer {
  status: number
  text: string
}

/** How long a connection whose answer did not come soon stays open for it: calls and long polls wait for others. */
const lateMs = 2_000

/** One connection of HTTP/1.1, on which anything can be written: a library would refuse what is malformed, and costs more than the server. */
export class HttpConnection {
  isOpen = true
  readonly #socket: Socket
  #arrived: Buffer = Buffer.alloc(0)
  #awaited = 0
  #answers: Answer[] = []
  #done: ((answers: Answer[]) => void) | undefined

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    this.#socket
      .on('error', () => {})
      .on('data', bytes => this.#take(bytes))
      .on('close', () => {
        this.isOpen = false
        this.#settle()
      })
  }

  /** Sends them all at once; resolves with their answers, fewer than requests if the server closed the connection. */
  ask(...requests: readonly Buffer[]): Promise<Answer[]> {
    const { promise, resolve } = Promise.withResolvers<Answer[]>()
    this.#awaited = requests.length
    this.#answers = []
    this.#done = resolve
    if (this.isOpen) this.#socket.write(Buffer.concat(requests))
    else this.#settle()
    return promise
  }

  /** Nothing more is sent; what has been sent and not answered may still be, for a while. */
  leave(afterMs = lateMs): void {
    this.#socket.setTimeout(afterMs, () => this.#socket.destroy())
    if (!this.#done) this.#socket.destroy()
  }

  /** No request follows: what was sent may have been the beginning of one. */
  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #settle(): void {
    this.#done?.(this.#answers)
    this.#done = undefined
  }

  #take(bytes: Buffer): void {
    this.#arrived = this.#arrived.length === 0 ? bytes : Buffer.concat([this.#arrived, bytes])
    for (;;) {
      const headEnds = this.#arrived.indexOf('\r\n\r\n')
      if (headEnds === -1) return
      const head = this.#arrived.toString('latin1', 0, headEnds)
      const bodyEnds = headEnds + 4 + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
      if (this.#arrived.length < bodyEnds) return
      const status = Number(head.slice(9, 12))
      const text = this.#arrived.toString('utf8', headEnds + 4, bodyEnds)
      this.#arrived = this.#arrived.subarray(bodyEnds)
      // That the rest may be sent is no answer yet.
      if (status === 100) continue
      this.#answers.push({ status, text })
      if (this.#answers.length === this.#awaited) this.#settle()
    }
  }
}
