import type { Clock } from '../async/clock.ts'
import { pingIntervalMs } from '../protocol/wire/handshake.ts'

/** The server speaks up at every interval: when nothing came for longer, the line may hang without anybody closing it. */
const quietForMs = pingIntervalMs + 5_000
const signOfLifeWithinMs = 5_000

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
  let cancelNext = () => {}

  // The steady clock of many devices stands still while they sleep, the wall clock may be set: the longer of both counts.
  const silentForMs = () => Math.max(clock.now() - heardAt.steady, Date.now() - heardAt.wall)
  const isTooLong = () => silentForMs() >= quietForMs
  const stop = () => {
    isStopped = true
    cancelNext()
  }
  const probe = () => {
    const before = signs
    clock.after(signOfLifeWithinMs, () => {
      if (isStopped || signs > before) return
      stop()
      onDead()
    })
    ask()
  }
  const lookLater = () => {
    const leftMs = quietForMs - (clock.now() - heardAt.steady)
    cancelNext = clock.after(Math.max(leftMs, signOfLifeWithinMs), () => {
      if (isTooLong()) probe()
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
