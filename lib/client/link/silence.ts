import type { Clock } from '../../async/clock.ts'
import { pingIntervalMs } from '../../protocol/wire/handshake.ts'

/**
 * The server sends something at every interval: if nothing came for longer, the connection may hang
 * without anybody closing it.
 */
const quietForMs = pingIntervalMs + 5_000
const signOfLifeWithinMs = 5_000
/**
 * Often, since a timer also stops while its device sleeps: after waking, the device must not seem
 * offline for the rest of a long one.
 */
const lookEveryMs = 2_000

/** Monitors one live connection. */
export interface SilenceWatch {
  /** Something arrived on the connection. */
  heard(): void
  /** When that was, by the wall clock: ms since 1970. */
  readonly heardAt: number
  /** True after a silence longer than any live connection has, such as a phone's sleep. */
  isTooLong(): boolean
  /** Sends a probe now; `onDead` follows if nothing comes within 5 s. */
  probe(): void
  stop(): void
}

/** `ask` makes the server send something. `onDead` is called at most once. */
export function watchSilence({ clock, ask, onDead }: { clock: Clock; ask(): void; onDead(): void }): SilenceWatch {
  let signs = 0
  let heardAt = { steady: clock.now(), wall: Date.now() }
  let isStopped = false
  let isProbing = false
  let cancelNext = () => {}

  // The monotonic clock of many devices stops during sleep, and the wall clock may be changed: the longer
  // of both counts.
  const silentForMs = () => Math.max(clock.now() - heardAt.steady, Date.now() - heardAt.wall)
  // A connection from before such a sleep is not worth probing.
  const hasSlept = () => Date.now() - heardAt.wall - (clock.now() - heardAt.steady) >= quietForMs
  const isTooLong = () => silentForMs() >= quietForMs
  const stop = () => {
    isStopped = true
    cancelNext()
  }
  const end = () => {
    stop()
    onDead()
  }
  const probe = () => {
    const before = signs
    isProbing = true
    clock.after(signOfLifeWithinMs, () => {
      isProbing = false
      if (!isStopped && signs === before) end()
    })
    ask()
  }
  const lookLater = () => {
    const leftMs = quietForMs - (clock.now() - heardAt.steady)
    cancelNext = clock.after(leftMs > 0 ? Math.min(leftMs, lookEveryMs) : lookEveryMs, () => {
      if (hasSlept()) return end()
      if (isTooLong() && !isProbing) probe()
      lookLater()
    })
  }
  lookLater()
  return {
    heard() {
      signs++
      heardAt = { steady: clock.now(), wall: Date.now() }
    },
    get heardAt() {
      return heardAt.wall
    },
    isTooLong,
    probe,
    stop
  }
}
