import { mostListBytes } from './list-size.ts'
import type { Amounts, UsageBucket } from './usage.ts'

/** The amounts are JSON. */
interface Report {
  tokens: string
  cost: string
  createdAt: number
}
interface Sum {
  tokens: Map<string, number>
  cost: Map<string, number>
  reports: number
}

/** Sums of usage reports, by the start of each bucket. */
export class Sums {
  readonly #bucketMs: number
  readonly #sums = new Map<number, Sum>()
  #bytes = 0

  constructor(bucketMs: number) {
    this.#bucketMs = bucketMs
  }

  /** With this many names and buckets it ends early, as other lists do. */
  get isFull(): boolean {
    return this.#bytes > mostListBytes
  }

  get buckets(): UsageBucket[] {
    return Array.from(this.#sums, ([at, { tokens, cost, reports }]) => ({
      at,
      tokens: Object.fromEntries(tokens),
      cost: Object.fromEntries(cost),
      reports
    }))
  }

  add({ tokens, cost, createdAt }: Report): void {
    const at = Math.floor(createdAt / this.#bucketMs) * this.#bucketMs
    const sum = this.#sums.get(at) ?? { tokens: new Map(), cost: new Map(), reports: 0 }
    this.#sums.set(at, sum)
    this.#addTo(sum.tokens, JSON.parse(tokens))
    this.#addTo(sum.cost, JSON.parse(cost))
    sum.reports += 1
  }

  #addTo(sum: Map<string, number>, amounts: Amounts): void {
    for (const [name, amount] of Object.entries(amounts)) {
      const before = sum.get(name)
      if (before === undefined) this.#bytes += name.length + bytesOfAmount
      sum.set(name, (before ?? 0) + amount)
    }
  }
}

/** The approximate size of an amount in an answer, besides its name. */
const bytesOfAmount = 20
