import { type Clock, systemClock } from '../../async/clock.ts'

/** Who looks at the session on a device now, as the devices say. */
export interface Watchers {
  readonly count: number
  note(viewer: string, isWatching: boolean): void
  close(): void
}

// A device that goes without a word, as one in a tunnel does. It says so again every half minute while it is there.
const silentForMs = 75_000
const mostViewers = 64

export function createWatchers(onChange: () => void, clock: Clock = systemClock): Watchers {
  const forgetting = new Map<string, () => void>()
  const forget = (viewer: string) => {
    forgetting.get(viewer)?.()
    return forgetting.delete(viewer)
  }

  return {
    get count() {
      return forgetting.size
    },
    note(viewer, isWatching) {
      const wasKnown = forget(viewer)
      const isKnown = isWatching && forgetting.size < mostViewers
      if (isKnown)
        forgetting.set(
          viewer,
          clock.after(silentForMs, () => forget(viewer) && onChange())
        )
      if (wasKnown !== isKnown) onChange()
    },
    close() {
      for (const viewer of [...forgetting.keys()]) forget(viewer)
    }
  }
}
