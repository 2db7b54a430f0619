import type { HttpResponse } from 'uWebSockets.js'
import type { Flow } from './byte-answer.ts'

/** More than most answers have. What is larger is written as fast as it is read. */
export const mostAtOnce = 64 * 1024

/** Whether the client of a request is still there, and whom to tell when it leaves. */
export class Client {
  isGone = false
  private tell: (() => void) | undefined

  /** Only the last one is told. */
  whenGone(tell: () => void): void {
    if (this.isGone) tell()
    else this.tell = tell
  }

  left(): void {
    this.isGone = true
    this.tell?.()
    this.tell = undefined
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
  private readonly response: HttpResponse
  private readonly client: Client
  private readonly total: number
  private piece: Uint8Array = nothing
  private begin = 0
  private hasLeft: (() => void) | undefined

  constructor(response: HttpResponse, client: Client, total: number) {
    this.response = response
    this.client = client
    this.total = total
    // Once, and not for each piece: the library puts the handler that it is calling back over one that is set meanwhile.
    response.onWritable(offset => this.hasLeft === undefined || this.write(this.piece.subarray(offset - this.begin)))
  }

  async send(piece: Uint8Array, writeHead: (() => void) | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.client.whenGone(resolve)
    this.hasLeft = resolve
    this.piece = piece
    this.response.cork(() => {
      writeHead?.()
      this.begin = this.response.getWriteOffset()
      this.write(piece)
    })
    await promise
    this.piece = nothing
  }

  private write(rest: Uint8Array): boolean {
    const [isTaken, isDone] = this.response.tryEnd(rest, this.total)
    if (!isTaken && !isDone) return false
    this.hasLeft?.()
    this.hasLeft = undefined
    return true
  }
}
