/** Something with frames waiting to be written. */
export interface Writer {
  flush(): void
}

/** Pieces sent per turn, a few milliseconds' worth at most. */
const mostPieces = 32

/**
 * What one turn of the event loop writes: first every frame, together for each connection, then every
 * answer. A group commit answers many requests at once; so each connection costs one system call and not
 * one per frame, and a sender's answer still follows the frames that its message caused. Large data is sent
 * in pieces, with all connections taking turns, so that nobody waits for it.
 */
export class WriteTurn {
  #writers = new Set<Writer>()
  #answers: (() => void)[] = []
  #pieces: (() => void)[] = []
  #soonPieces: NodeJS.Immediate | undefined
  #soon: NodeJS.Immediate | undefined
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  write(writer: Writer): void {
    this.#writers.add(writer)
    // When everything that arrived together has been read, so that messages of many clients to one are
    // sent in one system call.
    this.#soon ??= setImmediate(() => this.end())
  }

  answer(send: () => void): void {
    this.#answers.push(send)
    if (this.#answers.length > 1) return
    // When the promises of this turn are settled, so that all effects of a commit are written together.
    process.nextTick(() => this.end())
  }

  /** Writes one piece when it is its turn, in the order of request. */
  piece(send: () => void): void {
    this.#pieces.push(send)
    this.#soonPieces ??= setImmediate(() => this.#sendPieces())
  }

  /** Writes what is waiting now. */
  end(): void {
    clearImmediate(this.#soon)
    this.#soon = undefined
    // What arises while these are written, such as a frame about one that had to be closed, has its own
    // turn.
    const writers = this.#writers
    const answers = this.#answers
    this.#writers = new Set()
    this.#answers = []
    for (const writer of writers) this.#run(() => writer.flush())
    for (const send of answers) this.#run(send)
  }

  #sendPieces(): void {
    this.#soonPieces = undefined
    for (let left = mostPieces; left > 0; left -= 1) {
      const send = this.#pieces.shift()
      // It may request again at once, and then comes after all others.
      if (send) this.#run(send)
    }
    if (this.#pieces.length > 0) this.#soonPieces ??= setImmediate(() => this.#sendPieces())
  }

  // A failure on one connection must not affect the others.
  #run(send: () => void): void {
    try {
      send()
    } catch (error) {
      this.#onError(error)
    }
  }
}
