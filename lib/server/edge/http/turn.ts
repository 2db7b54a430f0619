/** Something with frames that wait to be written. */
export interface Writer {
  flush(): void
}

/** As many pieces leave in one turn, a few milliseconds' worth at most. */
const mostPieces = 32

/**
 * What one turn of the event loop writes: first every frame, together for each connection, then every answer. A group
 * commit answers many requests at once; so each connection costs one system call and not one per frame, and a sender's
 * answer still leaves after the frames that its message caused. What is large leaves in pieces, for all connections in turns,
 * so that nobody waits for it.
 */
export class Turn {
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
    // When all that arrived together has been read, so that what many clients sent to one leaves in one system call.
    this.#soon ??= setImmediate(() => this.end())
  }

  answer(send: () => void): void {
    this.#answers.push(send)
    if (this.#answers.length > 1) return
    // When the promises of this turn are settled, so that all that a commit brought is written together.
    process.nextTick(() => this.end())
  }

  /** Writes one piece when it is its turn, in the order of asking. */
  piece(send: () => void): void {
    this.#pieces.push(send)
    this.#soonPieces ??= setImmediate(() => this.#sendPieces())
  }

  /** Writes at once what waits. */
  end(): void {
    clearImmediate(this.#soon)
    this.#soon = undefined
    // What comes up while these are written, such as a frame about one that had to be closed, has a turn of its own.
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
      // It may ask again at once, and then comes after all others.
      if (send) this.#run(send)
    }
    if (this.#pieces.length > 0) this.#soonPieces ??= setImmediate(() => this.#sendPieces())
  }

  // What fails for one connection must not keep the others from theirs.
  #run(send: () => void): void {
    try {
      send()
    } catch (error) {
      this.#onError(error)
    }
  }
}
