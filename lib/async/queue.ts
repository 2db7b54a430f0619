/**
 * A bounded queue between producers and one consumer, who reads it with `for await`. After `close` the consumer still gets what is
 * inside, then the end; after `fail`, what is inside, then the error. A consumer that leaves its loop closes the queue and drops the rest.
 */
export class BoundedQueue<Item> implements AsyncIterable<Item> {
  readonly #limit: number
  readonly #items: Item[] = []
  readonly #waiting: { item: Item; settle: (taken: boolean) => void }[] = []
  #wakeConsumer: (() => void) | undefined
  #hasConsumer = false
  #end: { error?: unknown } | undefined

  /** `limit` is how many items may wait inside. */
  constructor(limit: number) {
    if (!(limit >= 1)) throw new RangeError(`a queue needs room for at least one item, not ${limit}`)
    this.#limit = limit
  }

  /** How many items wait inside now. */
  get length(): number {
    return this.#items.length
  }

  /** False when there is no room, or the queue has ended: the item was not taken. */
  offer(item: Item): boolean {
    if (this.#end || this.#items.length >= this.#limit) return false
    this.#items.push(item)
    this.#wakeConsumer?.()
    return true
  }

  /** Waits for room, in the order of the calls. False when the queue ended before there was any. */
  async put(item: Item): Promise<boolean> {
    if (this.offer(item)) return true
    if (this.#end) return false
    return new Promise(settle => this.#waiting.push({ item, settle }))
  }

  close(): void {
    this.#finish({})
  }

  fail(error: unknown): void {
    this.#finish({ error })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    if (this.#hasConsumer) throw new TypeError('this queue already has its consumer')
    this.#hasConsumer = true
    try {
      while (true) {
        for (let item = this.#shift(); item; item = this.#shift()) yield item.value
        if (this.#end) break
        await this.#somethingNew()
      }
      if ('error' in this.#end) throw this.#end.error
    } finally {
      this.close()
      this.#items.length = 0
    }
  }

  #shift(): { value: Item } | undefined {
    const [value] = this.#items.splice(0, 1).map(value => ({ value }))
    const next = value && this.#waiting.shift()
    if (next) {
      this.#items.push(next.item)
      next.settle(true)
    }
    return value
  }

  #somethingNew(): Promise<void> {
    return new Promise(resolve => {
      this.#wakeConsumer = resolve
    })
  }

  // The first end stands: an error that follows a close is the echo of a producer that was stopped.
  #finish(end: { error?: unknown }): void {
    if (this.#end) return
    this.#end = end
    for (const { settle } of this.#waiting.splice(0)) settle(false)
    this.#wakeConsumer?.()
  }
}
