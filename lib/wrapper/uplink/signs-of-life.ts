import type { Clock } from '../../async/clock.ts'

/** Tells over and over that a session lives. Each sign goes to every device, so one that rests says it no oftener than a computer does. */
export interface SignsOfLife {
  /** It works, or rests, or another has the keyboard: told at once. */
  tell(): void
  close(): void
}

/** Who opens the app meanwhile hears from the next one that the agent works. */
const workingEveryMs = 5_000
/** Servers take a session for gone after ten minutes without one. */
const restingEveryMs = 20_000

export function startSignsOfLife({ clock, isWorking, send }: { clock: Clock; isWorking(): boolean; send(): void }): SignsOfLife {
  let cancel = () => {}
  let isClosed = false
  const next = () => {
    cancel()
    if (!isClosed) cancel = clock.after(isWorking() ? workingEveryMs : restingEveryMs, tell)
  }
  const tell = () => {
    if (isClosed) return
    send()
    next()
  }
  next()
  return {
    tell,
    close() {
      isClosed = true
      cancel()
    }
  }
}
