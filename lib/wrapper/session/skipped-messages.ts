import type { Clock } from '../../async/clock.ts'

type WhySkipped = 'unreadable' | 'unknown-shape'

/** Reports each message that cannot be read here, once. */
export interface SkippedMessages {
  add(why: WhySkipped, seq: number): void
  /** Reports pending ones immediately. */
  finish(): void
}

/** Messages close together are reported together, so that a flood of them does not flood the person. */
export function createSkippedMessages({ say, clock }: { say(text: string): void; clock: Clock }): SkippedMessages {
  const waiting: Record<WhySkipped, Set<number>> = { unreadable: new Set(), 'unknown-shape': new Set() }
  let stop: (() => void) | undefined

  const finish = () => {
    stop?.()
    stop = undefined
    for (const why of reasons) {
      if (waiting[why].size > 0) say(sentence(why, [...waiting[why]]))
      waiting[why].clear()
    }
  }

  return {
    add(why, seq) {
      waiting[why].add(seq)
      stop ??= clock.after(gatherMs, finish)
    },
    finish
  }
}

const reasons = ['unreadable', 'unknown-shape'] as const
const gatherMs = 2000
const mostNamed = 20

function sentence(why: WhySkipped, seqs: readonly number[]): string {
  const isOne = seqs.length === 1
  const which = isOne ? `Message ${seqs[0]} was` : `Messages ${listed(seqs)} were`
  if (why === 'unreadable')
    return `${which} left out: ${isOne ? 'it is damaged, or was' : 'they are damaged, or were'} encrypted with another key.`
  return `${which} left out: Afield on this computer does not know ${isOne ? 'its kind' : 'their kinds'}. A newer version may.`
}

function listed(seqs: readonly number[]): string {
  const named = seqs.slice(0, mostNamed).map(String)
  const more = seqs.length - named.length
  const last = more > 0 ? `${more} more` : named.pop()
  return `${named.join(', ')} and ${last}`
}
