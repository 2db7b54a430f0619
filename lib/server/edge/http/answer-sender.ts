import type { HttpResponse } from 'uWebSockets.js'
import type { Clock } from '../../../async/clock.ts'
import type { Budget } from '../../budget.ts'
import type { Flow } from './byte-answer.ts'

/** More than most answers have. Larger ones are written as fast as they are read. */
export const mostAtOnce = 64 * 1024

/** Whether the client of a request is still connected, and the function to call when it disconnects. */
export class Client {
  isGone = false
  #tell: (() => void) | undefined

  /** Only the last one is called. */
  whenGone(tell: () => void): void {
    if (this.isGone) tell()
    else this.#tell = tell
  }

  left(): void {
    this.isGone = true
    this.#tell?.()
    this.#tell = undefined
  }
}

interface Whole {
  writeHead: () => void
  body: string | Uint8Array
  /** Whose share unread data counts for. */
  owner?: string | undefined
  /** Called when all is sent; a disconnect before that is reported by its `Client`. */
  onLeft?: () => void
}

/** Per turn of the event loop; requests above it are answered at the turn's end. */
const mostInOneGo = 32
/** Per second, of all connections: the library does not report when these are unread. */
const mostBodilessPerS = 200

/**
 * Sends answers that are complete. A client may send many requests at once and read nothing: the library
 * would process all that arrived together in one turn, and buffer the answers. So an unread answer stays
 * due, and of many requests at once only some are answered in their turn: while an answer is due, the
 * library proceeds no further, and closes a connection that has already sent the next request. Clients that
 * send one request at a time never notice.
 */
export class AnswerSender {
  readonly #clock: Clock
  readonly #unread: Budget
  readonly #onError: (error: unknown) => void
  #sent = 0
  #late: (() => void)[] = []
  #bodiless = { count: 0, since: 0 }

  constructor({ clock, unread, onError }: { clock: Clock; unread: Budget; onError: (error: unknown) => void }) {
    this.#clock = clock
    this.#unread = unread
    this.#onError = onError
  }

  send(response: HttpResponse, client: Client, answer: Whole): void {
    this.#inTurn(client, () => this.#sendWhole(response, client, answer))
  }

  /** Answers HEAD. Where there are too many answers without a body, the connection ends behind this one. */
  sendHead(response: HttpResponse, client: Client, { writeHead, length }: { writeHead: () => void; length: number }): void {
    this.#inTurn(client, () => {
      const isLast = !this.mayOmitBody()
      response.cork(() => {
        writeHead()
        response.endWithoutBody(length, isLast)
      })
    })
  }

  /** `end` writes an answer that closes the connection, or one counted by `mayOmitBody`. */
  sendAsIs(response: HttpResponse, client: Client, end: () => void): void {
    this.#inTurn(client, () => response.cork(end))
  }

  /**
   * Counts an answer without a body. False if there are too many of them, and a body is needed to detect
   * whether it is read.
   */
  mayOmitBody(): boolean {
    const now = this.#clock.now()
    if (now - this.#bodiless.since >= 1_000) this.#bodiless = { count: 0, since: now }
    this.#bodiless.count += 1
    return this.#bodiless.count <= mostBodilessPerS
  }

  /** Sends at once what would wait for the end of the turn. */
  flush(): void {
    const late = this.#late
    this.#sent = 0
    this.#late = []
    for (const send of late) this.#run(send)
  }

  #inTurn(client: Client, send: () => void): void {
    if (this.#sent === 0) setImmediate(() => this.flush())
    this.#sent += 1
    if (this.#sent > mostInOneGo) this.#late.push(() => client.isGone || send())
    else if (!client.isGone) send()
  }

  // A failure on one connection must not affect the others.
  #run(send: () => void): void {
    try {
      send()
    } catch (error) {
      this.#onError(error)
    }
  }

  #sendWhole(response: HttpResponse, client: Client, { writeHead, body, owner = '', onLeft }: Whole): void {
    const total = Buffer.byteLength(body)
    let isSent = false
    response.cork(() => {
      writeHead()
      isSent = response.tryEnd(body, total)[1]
    })
    if (isSent) {
      onLeft?.()
      return
    }
    const share = this.#unread.share(owner)
    if (!share.take(total)) {
      response.close()
      return
    }
    client.whenGone(() => share.giveBack())
    const bytes = Buffer.from(body)
    response.onWritable(offset => {
      const isOver = response.tryEnd(bytes.subarray(offset), total)[1]
      if (isOver) {
        share.giveBack()
        onLeft?.()
      }
      return isOver
    })
  }
}

/**
 * Sends what follows the head, which `writeHead` writes, as fast as it is read: the next piece is requested
 * when the last one is sent, and the library buffers none. Resolves when all is sent, or the client has
 * disconnected. Rejects if a piece cannot be read; the connection is closed then, since the answer cannot
 * be completed.
 */
export async function sendPieces(
  response: HttpResponse,
  client: Client,
  { total, next, writeHead }: Pick<Flow, 'total' | 'next'> & { writeHead: () => void }
): Promise<void> {
  if (client.isGone) return
  if (total === 0) {
    response.cork(() => {
      writeHead()
      response.end()
    })
    return
  }
  const outlet = new Outlet(response, client, total)
  for (let at = 0; at < total; ) {
    const piece = await pieceAt(at)
    if (client.isGone) return
    await outlet.send(piece, at === 0 ? writeHead : undefined)
    at += piece.length
  }

  async function pieceAt(at: number): Promise<Uint8Array> {
    try {
      return await next(at)
    } catch (error) {
      if (!client.isGone) response.close()
      throw error
    }
  }
}

const nothing = new Uint8Array()

class Outlet {
  readonly #response: HttpResponse
  readonly #client: Client
  readonly #total: number
  #piece: Uint8Array = nothing
  #begin = 0
  #hasLeft: (() => void) | undefined

  constructor(response: HttpResponse, client: Client, total: number) {
    this.#response = response
    this.#client = client
    this.#total = total
    // Once, and not for each piece: the library restores the handler that it is calling over one set
    // meanwhile.
    response.onWritable(offset => this.#hasLeft === undefined || this.#write(this.#piece.subarray(offset - this.#begin)))
  }

  async send(piece: Uint8Array, writeHead: (() => void) | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#client.whenGone(resolve)
    this.#hasLeft = resolve
    this.#piece = piece
    this.#response.cork(() => {
      writeHead?.()
      this.#begin = this.#response.getWriteOffset()
      this.#write(piece)
    })
    await promise
    this.#piece = nothing
  }

  #write(rest: Uint8Array): boolean {
    const [isTaken, isDone] = this.#response.tryEnd(rest, this.#total)
    if (!isTaken && !isDone) return false
    this.#hasLeft?.()
    this.#hasLeft = undefined
    return true
  }
}
