import type { Clock } from '../../../async/clock.ts'
import { maxPacketBytes } from '../../../protocol/wire/handshake.ts'
import { type Frame, LargeFrame, largeFrom } from '../../hub/frames.ts'
import type { Backlog, Behind } from './backlog.ts'
import { ping } from './engineio.ts'

/** How far behind a client that keeps reading may be, besides what it was sent at one time. */
const mostBehind = maxPacketBytes
/** A client that read this recently may have a burst, in which this many times as much may come. */
const busyMs = 5_000
const busyTimes = 16

/** A whole frame, or part of a large one. */
export type Piece = string | { bytes: Uint8Array; isFirst: boolean; isLast: boolean; of: LargeFrame }

type SendQueueDeps = { clock: Pick<Clock, 'now'>; backlog: Backlog }

/**
 * The frames waiting for one client, in order. Large ones are held by reference, shared with other
 * connections, and sent in pieces; pings overtake frames that have not started, so that a client that reads
 * does not seem silent.
 */
export class SendQueue {
  /** When the client last read some of it. */
  readAt = Number.NEGATIVE_INFINITY
  readonly #who: Behind
  readonly #deps: SendQueueDeps
  #frames: Frame[] = []
  #next = 0
  /** How much of the next frame is already sent. */
  #taken = 0
  #own = 0
  #shared = 0
  /** What the transport holds of sent data, of its own and of large frames. */
  #held = 0
  #heldShared = 0
  /** What was waiting when the client last read, and when it fell behind. */
  #leastSince = 0
  #atFirst = 0

  constructor(who: Behind, deps: SendQueueDeps) {
    this.#who = who
    this.#deps = deps
  }

  get isEmpty(): boolean {
    return this.#next === this.#frames.length
  }

  /**
   * Adds everything of one turn. False if the client is too far behind: more than `most` waited already,
   * and more than `most` of it came since the client last read, or 16 times as much within 5 s.
   */
  push(frames: readonly Frame[], { most, isBlocked }: { most: number; isBlocked: boolean }): boolean {
    const before = this.#waiting
    for (const frame of frames) this.#add(frame)
    this.#count()
    if (before <= most) {
      this.#leastSince = this.#waiting
      this.#atFirst = this.#waiting
      return true
    }
    const isBusy = this.#deps.clock.now() - this.readAt < busyMs
    return (!isBlocked || before - this.#leastSince <= (isBusy ? busyTimes * most : most)) && before - this.#atFirst <= mostBehind
  }

  /** The next frame, or up to `room` of it, which must not be 0; undefined if nothing waits. */
  take(room: number): Piece | undefined {
    const frame = this.#frames[this.#next]
    if (frame === undefined) return undefined
    if (typeof frame === 'string') {
      this.#leave(frame)
      return frame
    }
    const start = this.#taken
    const end = Math.min(start + room, frame.length)
    const isLast = end === frame.length
    this.#taken = end
    if (isLast) this.#leave(frame)
    return { bytes: frame.bytes.subarray(start, end), isFirst: start === 0, isLast, of: frame }
  }

  /** The first frames whole, at least one and as many more as fit this many bytes. */
  takeWhole(bytes: number): Frame[] {
    const frames: Frame[] = []
    for (let length = 0; length < bytes; ) {
      const frame = this.#frames[this.#next]
      if (frame === undefined) break
      frames.push(frame)
      length += frame.length
      this.#leave(frame)
    }
    this.#count()
    return frames
  }

  /** The small frames before the next large one; none if a large one has begun. */
  takeSmall(): string[] {
    const frames: string[] = []
    for (let frame = this.#frames[this.#next]; typeof frame === 'string'; frame = this.#frames[this.#next]) {
      frames.push(frame)
      this.#leave(frame)
    }
    return frames
  }

  /** Everything waiting, for another transport. */
  takeAll(): Frame[] {
    const rest = this.#frames.slice(this.#next)
    this.clear()
    return rest
  }

  /**
   * What the transport holds of sent data, including the library's own writes; and how much of it in large
   * frames.
   */
  hold(bytes: number, shared = 0): void {
    this.#held = bytes
    this.#heldShared = shared
    this.#count()
  }

  /** The client has read something. */
  read(): void {
    this.readAt = this.#deps.clock.now()
    this.#leastSince = this.#waiting
  }

  clear(): void {
    for (const frame of this.#frames.slice(this.#next)) if (frame instanceof LargeFrame) this.#deps.backlog.release(frame)
    this.#frames = []
    this.#next = 0
    this.#taken = 0
    this.#own = 0
    this.#shared = 0
    this.#count()
  }

  get #waiting(): number {
    return this.#own + this.#shared - this.#taken + this.#held + this.#heldShared
  }

  #add(frame: Frame): void {
    if (frame === ping) {
      this.#addPing()
      return
    }
    const kept = typeof frame === 'string' ? largeFrom(frame, { isForOne: true }) : frame
    this.#frames.push(kept)
    if (typeof kept === 'string') this.#own += Buffer.byteLength(kept)
    else {
      this.#shared += kept.length
      this.#deps.backlog.hold(kept)
    }
  }

  #addPing(): void {
    const first = this.#taken > 0 ? this.#next + 1 : this.#next
    if (this.#frames[first] === ping) return
    this.#frames.splice(first, 0, ping)
    this.#own += ping.length
  }

  #leave(frame: Frame): void {
    this.#next += 1
    this.#taken = 0
    if (typeof frame === 'string') this.#own -= Buffer.byteLength(frame)
    else {
      this.#shared -= frame.length
      this.#deps.backlog.release(frame)
    }
    if (!this.isEmpty && this.#next < mostPassed) return
    this.#frames.splice(0, this.#next)
    this.#next = 0
  }

  #count(): void {
    this.#deps.backlog.note(this.#who, this.#own + this.#held, this.#shared + this.#heldShared)
  }
}

/** Sent frames are dropped in batches of this size. */
const mostPassed = 1024
