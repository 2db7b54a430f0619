import type { AccountId } from '../../../protocol/wire/ids.ts'

/** As many as one commit takes: a lone account loses nothing, and others wait for one turn of it. */
const mostInFlight = 128
/** More than its rate allows during a slow turn. */
const mostWaiting = 32_768
/** What answers made at the same time may hold; those of one account half of it. What may be larger than that half counts as much. */
const mostAnswerBytes = 64 * 1024 * 1024

interface AccountEvents {
  inFlight: number
  answerBytes: number
  waiting: Waiting[]
}
interface Waiting {
  answerBytes: number
  begin: () => Promise<unknown>
  over: () => void
}

/**
 * Begins the events of one account in order of arrival, a few at a time, whatever the number of its sockets: those of other
 * accounts find at most one turn of it before them. A group commit would make the answers of all that wait for it at once,
 * before any of them is counted; so only as many are under way as may be that large, of all accounts in turns.
 */
export class EventQueue {
  readonly #most: number
  #answerBytes = 0
  readonly #accounts = new Map<AccountId, AccountEvents>()
  /** Whose next answer waits for those of others, the first of them the next. */
  readonly #blocked = new Set<AccountId>()

  constructor(most = mostAnswerBytes) {
    this.#most = most
  }

  /**
   * `answerBytes` is how large its answer may be, 0 for few. `begin` must not throw, and what it returns must not reject, and be over
   * when the answer is counted. Resolves then; undefined when so many wait already that this one is not taken.
   */
  take(account: AccountId, answerBytes: number, begin: () => Promise<unknown>): Promise<void> | undefined {
    const own = this.#accounts.get(account) ?? { inFlight: 0, answerBytes: 0, waiting: [] }
    if (own.waiting.length >= mostWaiting) return undefined
    this.#accounts.set(account, own)
    return new Promise(over => {
      const next = { answerBytes: Math.min(answerBytes, this.#most / 2), begin, over }
      // Most events are alone, and need no line.
      if (answerBytes === 0 && own.waiting.length === 0 && own.inFlight < mostInFlight) return this.#begin(account, own, next)
      own.waiting.push(next)
      if (own.waiting.length === 1) this.#beginNext(account, own)
    })
  }

  /** Begins those that there is room for, in order. */
  #beginNext(account: AccountId, own: AccountEvents, isItsTurn = this.#blocked.size === 0): void {
    let { inFlight, answerBytes } = own
    let count = 0
    for (const next of own.waiting) {
      const ownBytes = answerBytes + next.answerBytes
      if (inFlight >= mostInFlight || ownBytes > this.#most / 2) break
      if (next.answerBytes > 0 && !(isItsTurn && this.#answerBytes - own.answerBytes + ownBytes <= this.#most)) {
        this.#blocked.add(account)
        break
      }
      inFlight += 1
      answerBytes = ownBytes
      count += 1
    }
    for (const each of own.waiting.splice(0, count)) this.#begin(account, own, each)
  }

  #begin(account: AccountId, own: AccountEvents, { answerBytes, begin, over }: Waiting): void {
    own.inFlight += 1
    own.answerBytes += answerBytes
    this.#answerBytes += answerBytes
    begin().then(() => {
      own.inFlight -= 1
      own.answerBytes -= answerBytes
      this.#answerBytes -= answerBytes
      over()
      if (answerBytes > 0) this.#unblock()
      if (own.inFlight > 0) return
      // Only when the whole batch is over: one at a time would each get a commit of its own. And in a
      // separate turn: those over at once would otherwise occupy the loop until none is left.
      if (own.waiting.length > 0) setImmediate(() => this.#beginNext(account, own))
      else this.#accounts.delete(account)
    })
  }

  /** Each that waits for others has its turn before any of them has another. */
  #unblock(): void {
    for (const account of [...this.#blocked]) {
      const own = this.#accounts.get(account)
      if (own && this.#answerBytes + (own.waiting[0]?.answerBytes ?? 0) > this.#most) return
      this.#blocked.delete(account)
      if (own) this.#beginNext(account, own, true)
    }
  }
}
