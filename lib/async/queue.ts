/**
 * A bounded queue between producers and one consumer, who reads it with `for await`. After `close` the
 * consumer still gets the queued items, then the end; after `fail`, the queued items, then the error.
 * A consumer that leaves its loop closes the queue and drops the rest.
 */
export class BoundedQueue<Item> implements AsyncIterable<Item> {
  readonly #limit: number
  readonly #items: Item[] = []
  readonly #waiting: { item: Item; settle: (taken: boolean) => void }[] = []
  #wakeConsumer: (() => void) | undefined
  #hasConsumer = false
  #end: { error?: unknown } | undefined

  /** `limit` is the number of items that may be queued. */
  constructor(limit: number) {
    if (!(limit >= 1)) throw new RangeError(`a queue needs room for at least one item, not ${limit}`)
    this.#limit = limit
  }

  /** The number of queued items. */
  get length(): number {
    return this.#items.length
  }

  /** False if the queue is full or has ended: the item was not added. */
  offer(item: Item): boolean {
    if (this.#end || this.#items.length >= this.#limit) return false
    this.#items.push(item)
    this.#wakeConsumer?.()
    return true
  }

  /** Waits for space, in call order. False if the queue ended first. */
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
    // Nobody waits for space in an empty queue.
    const next = this.#waiting.shift()
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

  // The first end wins: an error after a close only comes from a producer that was stopped.
  #finish(end: { error?: unknown }): void {
    if (this.#end) return
    this.#end = end
    for (const { settle } of this.#waiting.splice(0)) settle(false)
    this.#wakeConsumer?.()
  }
}
