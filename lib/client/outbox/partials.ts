import { type Clock, systemClock } from '../../async/clock.ts'
import type { PartialBody, PartialFrame } from '../../protocol/sealed/messages.ts'

/** Says a text that still grows: at first whole, then what was added. Each frame has a number, one above that of the frame before. */
export interface PartialTeller {
  /** How the text stands now. False when it did not leave; what is told next is whole then. */
  tell(partial: PartialBody): boolean
  /** The next frame is whole: somebody is there who has not heard the others. */
  startOver(): void
}

/** For devices that cannot ask for what they missed. */
const wholeEveryMs = 10_000

/** `send` is false when the frame did not leave. */
export function createPartialTeller(send: (frame: PartialFrame) => boolean, clock: Clock = systemClock): PartialTeller {
  let told: { partial: PartialBody; wholeAt: number } | undefined
  let count = 0

  const frameOf = (partial: PartialBody): PartialFrame => {
    const { block, text } = partial
    const n = count + 1
    const isMore = told?.partial.block === block && text.startsWith(told.partial.text)
    if (!told || !isMore || clock.now() - told.wholeAt >= wholeEveryMs) return { ...partial, n }
    return { block, n, added: text.slice(told.partial.text.length) }
  }
  return {
    tell(partial) {
      const frame = frameOf(partial)
      const hasLeft = send(frame)
      if (hasLeft) {
        count = frame.n ?? count
        told = { partial, wholeAt: 'text' in frame || !told ? clock.now() : told.wholeAt }
      } else told = undefined
      return hasLeft
    },
    startOver() {
      told = undefined
    }
  }
}

/** Puts together what a teller said, whatever was lost, came twice or came late on the way. */
export interface PartialReader {
  /** The text as it stands now; undefined when the frame says nothing new, or follows one that is missing. */
  take(frame: PartialFrame): PartialBody | undefined
}

// A session has one or two that grow at a time.
const mostBlocks = 8

/** `onGap`: a frame was missed, so nothing can be added until the text comes whole. */
export function createPartialReader(onGap: () => void): PartialReader {
  const known = new Map<string, { n: number; partial: PartialBody }>()

  const keep = (n: number, partial: PartialBody): PartialBody => {
    known.delete(partial.block)
    known.set(partial.block, { n, partial })
    const [oldest] = known.keys()
    if (known.size > mostBlocks && oldest !== undefined) known.delete(oldest)
    return partial
  }
  return {
    take(frame) {
      const before = known.get(frame.block)
      if ('text' in frame) {
        const { n, ...partial } = frame
        // Earlier wrappers tell all of it each time, without a number.
        if (n === undefined) return partial
        return before && n <= before.n ? undefined : keep(n, partial)
      }
      if (before && frame.n <= before.n) return undefined
      if (before && frame.n === before.n + 1) return keep(frame.n, { ...before.partial, text: before.partial.text + frame.added })
      onGap()
      return undefined
    }
  }
}
