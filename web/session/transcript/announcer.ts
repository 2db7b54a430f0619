import type { Item, Step } from '../../model/transcript/items.ts'
import type { Transcript } from '../../model/transcript/transcript.ts'

/** Recent events, for people who do not see the steps. `running`: the current activity. */
interface Happened {
  readonly steps: number
  readonly running: Step | undefined
}

interface Announcer {
  /** The current transcript. Events that arrived while hidden or disconnected are not announced. `waiting`: calls that wait for a person. */
  take(items: Transcript['items'], isLive: boolean, waiting: ReadonlySet<string>): void
  close(): void
}

/** Announces new steps together, at most every 5 s. */
export function createAnnouncer(
  announce: (happened: Happened) => void,
  wait: (ms: number, then: () => void) => () => void = inTime
): Announcer {
  let upTo: number | undefined
  let known: readonly Item[] = []
  let asking: ReadonlySet<string> = new Set()
  let steps = 0
  let unwait: (() => void) | undefined
  const tell = () => {
    unwait = undefined
    const isRunning = (item: Item): item is Step => item.type === 'step' && item.state === 'running' && !asking.has(item.call)
    announce({ steps, running: known.findLast(isRunning) })
    steps = 0
  }
  return {
    take(items, isLive, waiting) {
      known = items
      asking = waiting
      const from = isLive ? upTo : undefined
      upTo = isLive ? (items.at(-1)?.seq ?? 0) : undefined
      if (from === undefined) return
      steps += newer(items, from).filter(({ type }) => type === 'step').length
      if (steps > 0) unwait ??= wait(everyMs, tell)
    },
    close: () => unwait?.()
  }
}

const everyMs = 5_000

function newer(items: readonly Item[], seq: number): readonly Item[] {
  const first = items.findLastIndex(item => item.seq <= seq)
  return items.slice(first + 1)
}

function inTime(ms: number, then: () => void): () => void {
  const timer = setTimeout(then, ms)
  return () => clearTimeout(timer)
}
