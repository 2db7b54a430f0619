/** What answers made at the same time may hold; those of one account half of it. What may be larger than that half counts as much. */
const mostAnswerBytes = 64 * 1024 * 1024

interface Waiting {
  bytes: number
  go: () => void
}

/**
 * The turns of events that may be answered with large values. A group commit would make the answers of all that wait for
 * it at once, before any of them is counted; so only as many are under way as may be that large, of all accounts in turns.
 */
export class AnswerQueue {
  readonly #most: number
  #underWay = 0
  readonly #underWayOf = new Map<string, number>()
  /** The first account is the next. */
  readonly #waiting = new Map<string, Waiting[]>()
  /** Somebody waits for others' answers: who comes now comes after them. */
  #isFull = false

  constructor(most = mostAnswerBytes) {
    this.#most = most
  }

  /** Runs the work when it is its turn, at once when there is room, and until it is over, which must be when its answer is counted. */
  run(account: string, bytes: number, work: () => Promise<void>): Promise<void> {
    const counted = Math.min(bytes, this.#most / 2)
    // Without a pause when there is room, so that writes keep the order they came in.
    const turn = this.#enter(account, counted)
    return (turn ? turn.then(work) : work()).finally(() => this.#leave(account, counted))
  }

  #enter(account: string, bytes: number): Promise<void> | undefined {
    const own = this.#waiting.get(account)
    const room = own || this.#isFull ? undefined : this.#roomFor(account, bytes)
    if (room === 'free') {
      this.#move(account, bytes)
      return undefined
    }
    if (room === 'full') this.#isFull = true
    const { promise, resolve } = Promise.withResolvers<void>()
    const one = { bytes, go: resolve }
    if (own) own.push(one)
    else this.#waiting.set(account, [one])
    return promise
  }

  #leave(account: string, bytes: number): void {
    this.#move(account, -bytes)
    this.#isFull = false
    // Each account that waits has its turn before any of them has another.
    for (let isAnyGone = true; isAnyGone && !this.#isFull; ) {
      isAnyGone = false
      for (const [each, own] of [...this.#waiting]) {
        const room = own[0] && this.#roomFor(each, own[0].bytes)
        this.#isFull = room === 'full'
        if (this.#isFull) break
        if (room !== 'free') continue
        this.#goOn(each, own)
        isAnyGone = true
      }
    }
  }

  #goOn(account: string, own: Waiting[]): void {
    const first = own.shift()
    this.#waiting.delete(account)
    if (own.length > 0) this.#waiting.set(account, own)
    this.#move(account, first?.bytes ?? 0)
    first?.go()
  }

  #roomFor(account: string, bytes: number): 'free' | 'full' | 'own-full' {
    if ((this.#underWayOf.get(account) ?? 0) + bytes > this.#most / 2) return 'own-full'
    return this.#underWay + bytes > this.#most ? 'full' : 'free'
  }

  #move(account: string, bytes: number): void {
    this.#underWay += bytes
    const own = (this.#underWayOf.get(account) ?? 0) + bytes
    if (own === 0) this.#underWayOf.delete(account)
    else this.#underWayOf.set(account, own)
  }
}
