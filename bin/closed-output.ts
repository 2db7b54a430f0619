import { exitCodes } from '../lib/exit.ts'

/**
 * Keeps the program running if its output cannot be written. If the reader has left, as `head` does, that is fine; for any other
 * reason the person is told, once, and the exit code is no longer that of success.
 */
export function surviveClosedOutput(): void {
  let isTold = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (isTold || hasLeft(code)) return
    isTold = true
    console.error(`The output cannot be written: ${message}.`)
    process.on('exit', status => {
      if (status === 0) process.exitCode = exitCodes.storage
    })
  })
  process.stderr.on('error', () => {})
}

// A pipe without a reader, and a terminal whose window was closed.
function hasLeft(code: string | undefined): boolean {
  return code === 'EPIPE' || code === 'EIO' || code === 'ERR_STREAM_DESTROYED'
}
