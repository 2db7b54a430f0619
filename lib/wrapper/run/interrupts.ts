import type { Session } from '../session/session.ts'

/** The effect of the last Ctrl-C. */
type InterruptState = 'no' | 'turn' | 'asked' | 'ending'

// Ctrl-C reaches this process from the terminal, and again from npm, which forwards it.
const sameKeyMs = 300
const forgetAfterMs = 4000

/**
 * The first Ctrl-C stops the turn, or asks whether to end; the second ends the session, which still delivers queued output; a third
 * exits immediately, which loses nothing. A signal from elsewhere ends the session. Returns a function that stops listening.
 */
export function onInterrupts(session: Pick<Session, 'stopTurn' | 'end'>, screen: { showStopping(now: InterruptState): void }): () => void {
  let stopping: InterruptState = 'no'
  let lastAt = Number.NEGATIVE_INFINITY
  let forgetting: NodeJS.Timeout | undefined

  const enter = (next: InterruptState) => {
    stopping = next
    clearTimeout(forgetting)
    if (next === 'turn' || next === 'asked') forgetting = setTimeout(() => enter('no'), forgetAfterMs)
    screen.showStopping(next)
  }
  const end = (by: 'person' | 'system') => {
    if (stopping === 'ending') process.exit(0)
    enter('ending')
    session.end(by)
  }
  const endBySystem = () => end('system')
  const interrupt = () => {
    const since = performance.now() - lastAt
    lastAt = performance.now()
    if (since < sameKeyMs) return
    if (stopping !== 'no') end('person')
    else enter(session.stopTurn() ? 'turn' : 'asked')
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', endBySystem)
  process.on('SIGHUP', endBySystem)
  return () => {
    clearTimeout(forgetting)
    process.off('SIGINT', interrupt)
    process.off('SIGTERM', endBySystem)
    process.off('SIGHUP', endBySystem)
  }
}
