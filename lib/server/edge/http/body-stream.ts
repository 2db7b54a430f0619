import type { HttpResponse } from 'uWebSockets.js'
import type { Clock } from '../../../async/clock.ts'
import { type Failure, failure } from '../../../protocol/wire/failures.ts'
import type { BytesIn } from '../../../protocol/wire/routes.ts'
import type { Share } from '../../budget.ts'

/** After a while a body has a minimum rate: far slower than any network, and not forever. */
const leastBytesPerS = 256
const patienceMs = 30_000

/**
 * A body read while it arrives. Little is buffered: the connection is paused until it is consumed. Reading
 * fails with `body-too-large`, `body-too-slow`, `busy`, or `body-cut` when the client left before the end.
 * What was read counts until the reader says that it keeps less.
 */
export class BodyStream implements BytesIn {
  readonly #response: HttpResponse
  readonly #limit: number
  readonly #share: Share
  readonly #clock: Clock
  readonly #beganAt: number
  #chunks: Buffer[] = []
  /** Bytes handed to the reader, who may still hold them. */
  #read = 0
  /** How much has arrived. */
  length = 0
  #end: Failure | 'whole' | undefined
  #isGone = false
  #isPaused = false
  #wake: (() => void) | undefined

  constructor(response: HttpResponse, { limit, share, clock }: { limit: number; share: Share; clock: Clock }) {
    this.#response = response
    this.#limit = limit
    this.#share = share
    this.#clock = clock
    this.#beganAt = clock.now()
    response.onData((chunk, isLast) => this.#arrived(chunk, isLast))
  }

  /** The client has disconnected. */
  cut(): void {
    this.#isGone = true
    this.#finish(failure('body-cut'))
  }

  /** Reading has ended; the rest is dropped. Call it before the answer. */
  drop(): void {
    this.#finish(failure('body-cut'))
    this.#chunks = []
    this.#share.giveBack()
    this.#resume()
  }

  // While nothing is released the loan is not renewed: the loan of a body that only trickles in gets older.
  keep(bytes: number): void {
    if (bytes === this.#read) return
    this.#read = bytes
    this.#share.giveBack()
    const held = this.#chunks.reduce((sum, chunk) => sum + chunk.length, bytes)
    if (held > 0) this.#take(held)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk) {
          this.#read += chunk.length
          yield chunk
        } else if (this.#end === 'whole') return
        else if (this.#end) throw this.#end
        else await this.#next()
      }
    } finally {
      this.drop()
    }
  }

  #arrived(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#end) return
    this.length += chunk.byteLength
    if (this.length > this.#limit) this.#finish(failure('body-too-large'))
    else if (!isLast && this.#isTooSlow()) this.#finish(failure('body-too-slow'))
    else if (!this.#take(chunk.byteLength)) this.#finish(failure('busy'))
    else {
      // The bytes are only valid during the call.
      if (chunk.byteLength > 0) this.#chunks.push(Buffer.from(chunk.slice(0)))
      if (isLast) this.#finish('whole')
      else this.#pause()
      this.#wake?.()
    }
  }

  #take(bytes: number): boolean {
    if (this.#share.bytes === 0) this.#share.lend(this.#clock, () => this.#giveUp())
    return this.#share.take(bytes)
  }

  #giveUp(): void {
    this.#finish(failure('busy'))
    this.#chunks = []
    this.#share.giveBack()
  }

  // The library itself drops silent clients; each resume restarts its timeout.
  #isTooSlow(): boolean {
    const ms = this.#clock.now() - this.#beganAt
    return ms > patienceMs && this.length < (ms / 1000) * leastBytesPerS
  }

  async #next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    this.#resume()
    await promise
    this.#wake = undefined
  }

  #finish(end: Failure | 'whole'): void {
    this.#end ??= end
    this.#wake?.()
  }

  // More may arrive although it is paused: data the system had already delivered.
  #pause(): void {
    this.#isPaused = true
    this.#response.pause()
  }

  // Even if everything has arrived: the next request of the connection waits for this.
  #resume(): void {
    if (this.#isPaused && !this.#isGone) this.#response.resume()
    this.#isPaused = false
  }
}
