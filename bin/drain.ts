// Ctrl-C reaches this process from the terminal, and again from npm, which forwards it.
const sameSignalMs = 300

/**
 * On the first SIGTERM or SIGINT closes what is open and exits with 0; on a second one exits at once,
 * which loses nothing either: everything acknowledged is on disk.
 */
export function drainOnSignal(close: () => Promise<void>): void {
  let drainingSince: number | undefined
  const onSignal = (): void => {
    if (drainingSince !== undefined) {
      if (performance.now() - drainingSince > sameSignalMs) process.exit(1)
      return
    }
    drainingSince = performance.now()
    // A rejection becomes an uncaught exception, which says what failed and exits with its code.
    void close().then(() => process.exit(0))
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

/** Aborted by the first SIGTERM or SIGINT, for work that then stops where it can be continued; a second one ends at once. */
export function abortOnSignal(): AbortSignal {
  const controller = new AbortController()
  drainOnSignal(() => {
    controller.abort()
    // The command ends by itself, with an exit code of its own.
    return new Promise(() => {})
  })
  return controller.signal
}
