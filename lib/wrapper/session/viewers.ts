import { type Clock, systemClock } from '../../async/clock.ts'

/** Which devices show the session now, as they report it. */
export interface Viewers {
  readonly count: number
  note(viewer: string, isWatching: boolean): void
  close(): void
}

// For a device that disappears silently, as in a tunnel. While connected, it repeats its report every half minute.
const silentForMs = 75_000
const mostViewers = 64

export function createViewers(onChange: () => void, clock: Clock = systemClock): Viewers {
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
