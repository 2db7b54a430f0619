/** Something with frames that wait to be written. */
export interface Writer {
  flush(): void
}

/**
 * What one turn of the event loop writes: first every frame, together for each connection, then every answer. A group
 * commit answers many requests at once; so each connection costs one system call and not one per frame, and a sender's
 * answer still leaves after the frames that its message caused.
 */
export class Turn {
  private writers = new Set<Writer>()
  private answers: (() => void)[] = []
  private isScheduled = false
  private readonly onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.onError = onError
  }

  write(writer: Writer): void {
    this.writers.add(writer)
    this.schedule()
  }

  answer(send: () => void): void {
    this.answers.push(send)
    this.schedule()
  }

  /** Writes at once what waits. */
  end(): void {
    // What comes up while these are written, such as a frame about one that had to be closed, has a turn of its own.
    const { writers, answers } = this
    this.writers = new Set()
    this.answers = []
    for (const writer of writers) this.run(() => writer.flush())
    for (const send of answers) this.run(send)
  }

  // What fails for one connection must not keep the others from theirs.
  private run(send: () => void): void {
    try {
      send()
    } catch (error) {
      this.onError(error)
    }
  }

  private schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    // Runs when the promises of this turn are settled, so that all that a commit brought is written together.
    process.nextTick(() => {
      this.isScheduled = false
      this.end()
    })
  }
}
