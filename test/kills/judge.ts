import type { SessionEvent } from '../../lib/protocol/sealed/messages.ts'

export interface Verdict {
  /** What the agent and its people said, as it was written down. */
  said: number
  lost: readonly string[]
  doubled: readonly string[]
  /** What the agent said stands in another order on the phone. */
  isMisplaced: boolean
  /** Turns that began and have no end, or the other way round. */
  unended: number
}

/** Compares what the phone has with what the agent wrote down, both as `user: …` and `assistant: …`. */
export function judge({ read, events }: { read: readonly string[]; events: readonly SessionEvent[] }, written: readonly string[]): Verdict {
  const count = (of: SessionEvent['t']) => events.filter(({ t }) => t === of).length
  // What the phone said stands where it was said, which may be before the end of the turn in front of it.
  const answers = (lines: readonly string[]) => lines.filter(line => line.startsWith('assistant: ')).join('\n')
  return {
    said: written.length,
    lost: without(written, read),
    doubled: without(read, written),
    isMisplaced: answers(read) !== answers(written),
    unended: count('turn-start') - count('turn-end')
  }
}

export function isKept({ lost, doubled, isMisplaced, unended }: Verdict): boolean {
  return lost.length === 0 && doubled.length === 0 && !isMisplaced && unended === 0
}

/** Each as often as there are more of it in the first. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return lines.filter(line => {
    const at = left.indexOf(line)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}
