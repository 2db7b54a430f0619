import type { AccountId } from '../../../protocol/wire/ids.ts'

/** As many as one commit takes: an account alone loses nothing, and others wait for one turn of it. */
const mostUnderWay = 128
/** More than all that its rate lets through while a turn is slow. */
const mostWaiting = 32_768

interface Line {
  underWay: number
  waiting: Waiting[]
}
interface Waiting {
  begin: () => Promise<unknown>
  over: () => void
}

/**
 * Begins the events of one account in order of arrival, a few at a time, whatever the number of its sockets: those of other
 * accounts find at most one turn of it before them.
 */
export class EventQueue {
  readonly #lines = new Map<AccountId, Line>()

  /**
   * `begin` must not throw, and what it returns must not reject. Resolves when that is over; undefined when so many wait already that
   * this one is not taken.
   */
  take(account: AccountId, begin: () => Promise<unknown>): Promise<void> | undefined {
    const line = this.#lines.get(account) ?? { underWay: 0, waiting: [] }
    if (line.waiting.length >= mostWaiting) return undefined
    this.#lines.set(account, line)
    return new Promise(over => {
      if (line.underWay < mostUnderWay && line.waiting.length === 0) this.#begin(account, line, { begin, over })
      else line.waiting.push({ begin, over })
    })
  }

  #begin(account: AccountId, line: Line, { begin, over }: Waiting): void {
    line.underWay += 1
    begin().then(() => {
      line.underWay -= 1
      over()
      if (line.underWay > 0) return
      // Only when all that were begun are over: one at a time would fall into a commit of its own each. And in a turn of its
      // own: those that are over at once would else keep the loop until none waits.
      if (line.waiting.length > 0) setImmediate(() => this.#next(account, line))
      else this.#lines.delete(account)
    })
  }

  #next(account: AccountId, line: Line): void {
    for (const each of line.waiting.splice(0, mostUnderWay)) this.#begin(account, line, each)
  }
}
