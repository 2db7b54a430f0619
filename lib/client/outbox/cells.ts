import type { Clock } from '../../async/clock.ts'
import type { Cipher } from '../../crypto/envelopes.ts'
import * as v from '../../schema.ts'
import { Refused } from '../link/refusals.ts'
import { createRetrier, type Retrier } from '../link/retry.ts'
import type { LiveSocket } from '../link/socket.ts'
import type { SealedCell, WriteCell } from './cell-writers.ts'

export type { SealedCell, WriteCell } from './cell-writers.ts'

/** One versioned value that several clients write: metadata, agent state, settings. */
export interface Cell<Value> {
  readonly value: Value
  readonly version: number
  /**
   * Applies `change` to the newest value, again after each conflict, until it is stored; also across
   * lost connections. Changes made in quick succession share a write. A change that returns its
   * argument writes nothing. Resolves to the stored value. `change` must be pure. Rejects with
   * `Refused`, with `UnreadableCell`, with what `change` throws, or when the cell is closed.
   */
  update(change: (value: Value) => Value): Promise<Value>
  /**
   * The cell from a list or an update. Older versions change nothing; false if the new one cannot be
   * read.
   */
  take(cell: SealedCell): boolean
  /** Like `take`, whatever its version: the server was restored to an older state. */
  replace(cell: SealedCell): boolean
  close(): void
}

interface CellOptions<Value> {
  cipher: Cipher
  schema: v.GenericSchema<unknown, Value>
  cell: SealedCell
  /** Represents a cell whose value is null. */
  empty: Value
  write: WriteCell
  /** Tries at once whenever this becomes live. */
  socket?: Pick<LiveSocket, 'onState'> | undefined
  /** After each version that came from elsewhere or was written here. */
  onChange?: ((value: Value) => void) | undefined
  clock?: Clock | undefined
  random?: (() => number) | undefined
}

/** Another client wrote something that this key does not decrypt or this schema does not know. */
export class UnreadableCell extends Error {
  override name = 'UnreadableCell'
}

/** Throws `UnreadableCell` when the first value cannot be read. */
export function openCell<Value>(options: CellOptions<Value>): Cell<Value> {
  return new VersionedCell(options)
}

interface Request<Value> {
  change: (value: Value) => Value
  settle: PromiseWithResolvers<Value>
}

class VersionedCell<Value> implements Cell<Value> {
  value: Value
  version: number

  readonly #options: CellOptions<Value>
  readonly #end = new AbortController()
  readonly #retrier: Retrier
  readonly #unlisten: (() => void) | undefined
  #requests: Request<Value>[] = []
  #isWriting = false

  constructor(options: CellOptions<Value>) {
    const { cell, socket, clock, random } = options
    this.#options = options
    this.#retrier = createRetrier({ signal: this.#end.signal, clock, random })
    this.value = this.#read(cell)
    this.version = cell.version
    this.#unlisten = socket?.onState(state => state.type === 'live' && this.#retrier.hurry())
  }

  update(change: (value: Value) => Value): Promise<Value> {
    const settle = Promise.withResolvers<Value>()
    this.#requests.push({ change, settle })
    this.#writeSoon()
    return settle.promise
  }

  take(cell: SealedCell): boolean {
    return cell.version <= this.version || this.replace(cell)
  }

  replace(cell: SealedCell): boolean {
    try {
      this.#adopt(this.#read(cell), cell.version)
      return true
    } catch (error) {
      if (error instanceof UnreadableCell) return false
      throw error
    }
  }

  close(): void {
    this.#end.abort(new Error('the cell was closed'))
    this.#unlisten?.()
  }

  #read({ value }: SealedCell): Value {
    if (value === null) return this.#options.empty
    const opened = this.#options.cipher.open(value)
    const parsed = opened.ok ? v.safeParse(this.#options.schema, opened.value) : undefined
    if (!parsed?.success) throw new UnreadableCell('the value was encrypted with another key or has an unknown shape')
    return parsed.data
  }

  #adopt(value: Value, version: number): void {
    this.value = value
    this.version = version
    this.#options.onChange?.(value)
  }

  #writeSoon(): void {
    if (this.#isWriting) return
    this.#isWriting = true
    // Changes of the same turn share one write.
    queueMicrotask(async () => {
      while (this.#requests.length > 0) await this.#writeOnce()
      this.#isWriting = false
    })
  }

  /** Stores every change requested so far, and settles their promises. */
  async #writeOnce(): Promise<void> {
    const requests = this.#requests
    this.#requests = []
    await this.#storeAll(requests)
  }

  async #storeAll(requests: readonly Request<Value>[]): Promise<void> {
    try {
      const value = await this.#store(base => requests.reduce((value, { change }) => change(value), base))
      for (const { settle } of requests) settle.resolve(value)
    } catch (error) {
      // One that is too large does not fail the others.
      if (error instanceof Refused && requests.length > 1) for (const request of requests) await this.#storeAll([request])
      else for (const { settle } of requests) settle.reject(error)
    }
  }

  async #store(change: (value: Value) => Value): Promise<Value> {
    for (;;) {
      this.#end.signal.throwIfAborted()
      const base = this.value
      const next = change(base)
      if (next === base) return base

      const expected = this.version
      const value = this.#options.cipher.seal(next)
      const outcome = await this.#retrier.attempt(() => this.#options.write(expected, value))
      // An attempt whose answer was lost may have been stored: then the conflict is with our own text.
      const isOurs = outcome.type === 'written' || (outcome.version === expected + 1 && outcome.value === value)
      if (isOurs) {
        if (outcome.version > this.version) this.#adopt(next, outcome.version)
        return next
      }
      this.#takeConflict(outcome, expected)
    }
  }

  // A version below the expected one means that the server was restored to an older state.
  #takeConflict(current: SealedCell, expected: number): void {
    if (current.version > this.version || current.version < expected) this.#adopt(this.#read(current), current.version)
  }
}
