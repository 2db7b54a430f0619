import { type Clock, systemClock } from '../../async/clock.ts'
import type { PartialBody, PartialFrame } from '../../protocol/sealed/messages.ts'

/** Sends a growing text: first in full, then only additions. Each frame has the next number. */
export interface PartialTeller {
  /** The current text. False if it was not sent; the next frame is then in full. */
  tell(partial: PartialBody): boolean
  /** Makes the next frame a full one: a new viewer has not received the others. */
  startOver(): void
}

/** For devices that cannot request what they missed. */
const wholeEveryMs = 10_000

/** `send` returns false if the frame was not sent. */
export function createPartialTeller(send: (frame: PartialFrame) => boolean, clock: Clock = systemClock): PartialTeller {
  let lastSent: { partial: PartialBody; wholeAt: number } | undefined
  let count = 0

  const frameOf = (partial: PartialBody): PartialFrame => {
    const { block, text } = partial
    const n = count + 1
    const isMore = lastSent?.partial.block === block && text.startsWith(lastSent.partial.text)
    if (!lastSent || !isMore || clock.now() - lastSent.wholeAt >= wholeEveryMs) return { ...partial, n }
    return { block, n, added: text.slice(lastSent.partial.text.length) }
  }
  return {
    tell(partial) {
      const frame = frameOf(partial)
      const hasLeft = send(frame)
      if (hasLeft) {
        count = frame.n ?? count
        lastSent = { partial, wholeAt: 'text' in frame || !lastSent ? clock.now() : lastSent.wholeAt }
      } else lastSent = undefined
      return hasLeft
    },
    startOver() {
      lastSent = undefined
    }
  }
}

/** Reassembles a sender's text, whatever was lost, repeated or late. */
export interface PartialReader {
  /** The current text; undefined if the frame adds nothing, or follows a missing one. */
  take(frame: PartialFrame): PartialBody | undefined
}

// A session has one or two growing texts at a time.
const mostBlocks = 8

/** `onGap`: a frame was missed, so nothing can be added until the full text comes. */
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
        // Earlier wrappers send all of it each time, without a number.
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
