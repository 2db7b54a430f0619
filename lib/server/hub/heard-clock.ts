import type { BusEvent } from '../../bus/bus.ts'

type Heard = Extract<BusEvent, { type: 'change' | 'large-change' }>
type Range = { after: number; upTo: number }

/**
 * How much of an account's changes an instance has heard, by their clocks: each update has the next one. Changes may
 * arrive in any order and more than once.
 */
export class HeardClock {
  /** Everything up to here was heard, or stored before the first client connected; undefined while that is not known. */
  upTo: number | undefined
  /** Heard above a gap: in order, and none touches the next. */
  #ahead: Range[] = []
  /** What the store had at the last look. */
  #stored = 0

  hear(event: Heard): void {
    const range = { after: event.clock - updatesOf(event), upTo: event.clock }
    if (this.upTo !== undefined && range.after <= this.upTo) this.readTo(range.upTo)
    else this.#ahead = joined([...this.#ahead, range])
  }

  /** Everything up to this clock is known, from wherever. */
  readTo(clock: number): void {
    this.upTo = Math.max(this.upTo ?? 0, clock)
    for (let [first] = this.#ahead; first && first.after <= this.upTo; [first] = this.#ahead) {
      this.upTo = Math.max(this.upTo, first.upTo)
      this.#ahead.shift()
    }
  }

  /**
   * Compares with the store's clock. Only what was stored at the look before counts as missed: a change of this moment
   * is on its way, and an account that is always written to is never quite up to date.
   */
  look(stored: number): 'missed' | 'unknown' | 'nothing missed' {
    const before = this.#stored
    this.#stored = stored
    if (this.upTo === undefined) return 'unknown'
    return before > this.upTo ? 'missed' : 'nothing missed'
  }
}

/** How many updates a change has, as `updateFrames` makes them and as the store moves the clock for it. */
function updatesOf(event: Heard): number {
  const change = event.type === 'change' ? event.change : event.stored
  if (change.type === 'machine-opened') return 2
  if (change.type !== 'messages-added') return 1
  return 'messages' in change ? change.messages.length : change.last - change.first + 1
}

function joined(ranges: Range[]): Range[] {
  const apart: Range[] = []
  for (const range of ranges.sort((one, other) => one.after - other.after)) {
    const last = apart.at(-1)
    if (last && range.after <= last.upTo) last.upTo = Math.max(last.upTo, range.upTo)
    else apart.push(range)
  }
  return apart
}
