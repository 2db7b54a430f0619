import type { Clock } from '../../async/clock.ts'
import { pingIntervalMs } from '../../protocol/wire/handshake.ts'

/** The server speaks up at every interval: when nothing came for longer, the line may hang without anybody closing it. */
const quietForMs = pingIntervalMs + 5_000
const signOfLifeWithinMs = 5_000
/** Often, as a timer stands still as well while its device sleeps: whoever wakes is not to seem away for what was left of a long one. */
const lookEveryMs = 2_000

/** Listens to one live line. */
export interface SilenceWatch {
  /** Something came over the line. */
  heard(): void
  /** When that was, by the clock on the wall: ms since 1970. */
  readonly heardAt: number
  /** True after a silence that no living line keeps, such as a phone's sleep. */
  isTooLong(): boolean
  /** Asks for a sign of life now; `onDead` follows when none comes within 5 s. */
  probe(): void
  stop(): void
}

/** `ask` makes the server say something. `onDead` is called at most once. */
export function watchSilence({ clock, ask, onDead }: { clock: Clock; ask(): void; onDead(): void }): SilenceWatch {
  let signs = 0
  let heardAt = { steady: clock.now(), wall: Date.now() }
  let isStopped = false
  let isProbing = false
  let cancelNext = () => {}

  // The steady clock of many devices stands still while they sleep, the wall clock may be set: the longer of both counts.
  const silentForMs = () => Math.max(clock.now() - heardAt.steady, Date.now() - heardAt.wall)
  // Nothing of a line that was alive before such a sleep is worth a question.
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
