import type { HttpResponse } from 'uWebSockets.js'
import type { Clock } from '../../../async/clock.ts'
import type { Budget } from '../../budget.ts'
import type { Flow } from './byte-answer.ts'

/** More than most answers have. What is larger is written as fast as it is read. */
export const mostAtOnce = 64 * 1024

/** Whether the client of a request is still there, and whom to tell when it leaves. */
export class Client {
  isGone = false
  #tell: (() => void) | undefined

  /** Only the last one is told. */
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
  /** Whose share what is not read at once counts for. */
  owner?: string | undefined
  /** Told when all has left; who has gone before is told of by its `Client`. */
  onLeft?: () => void
}

/** In one turn of the event loop; what is asked beyond it is answered at the turn's end. */
const mostInOneGo = 32
/** In one second, of all connections: the library does not tell when they are not read. */
const mostBodilessPerS = 200

/**
 * Sends the answers that are there whole. Clients may send many requests at once and read nothing: the library would take
 * all that came together in one turn, and keep the answers. So an answer that is not read stays due, and of many requests
 * at once only some are answered in their turn: while an answer is due, the library goes no further, and closes a
 * connection that has brought the next request already. Who sends one request at a time meets nothing of it.
 */
export class Outflow {
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

  /** `end` writes an answer that closes the connection, or one of those that `mayOmitBody` counts. */
  sendAsIs(response: HttpResponse, client: Client, end: () => void): void {
    this.#inTurn(client, () => response.cork(end))
  }

  /** Counts an answer without a body. False when there are too many of them, and a body has to tell whether it is read. */
  mayOmitBody(): boolean {
    const now = this.#clock.now()
    if (now - this.#bodiless.since >= 1_000) this.#bodiless = { count: 0, since: now }
    this.#bodiless.count += 1
    return this.#bodiless.count <= mostBodilessPerS
  }

  /** Sends at once what waits for the end of the turn. */
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

  // What fails for one connection must not keep the others from theirs.
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
 * Sends what follows the head, which `writeHead` writes, as fast as it is read: the next piece is asked for when the last
 * one has left, and the library buffers none. Resolves when all has left, or the client has. Rejects when a piece cannot be
 * had; the connection is closed then, since what was promised cannot be kept.
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
    // Once, and not for each piece: the library puts the handler that it is calling back over one that is set meanwhile.
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
