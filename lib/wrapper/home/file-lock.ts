import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

const waitMs = 5
const waitAtMostMs = 3000
// Longer than any work under a lock: for one that was cut off before it said whose it is.
const longestHeldMs = 30_000

/** Does the work while no other process does work under the same lock. One whose process is gone is taken away from it. */
export function withFileLock<Result>(path: string, work: () => Result): Result {
  const until = performance.now() + waitAtMostMs
  while (!take(path)) {
    if (isLeft(path)) release(path)
    else if (performance.now() > until) throw new Error(`Another process of Afield holds ${path} for too long.`)
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs)
  }
  try {
    return work()
  } finally {
    rmSync(path, { force: true })
  }
}

function take(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

function isLeft(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > longestHeldMs) return true
    const holder = Number(readFileSync(path, 'utf8'))
    if (Number.isInteger(holder) && holder > 0) process.kill(holder, 0)
    return false
  } catch (error) {
    return codeOf(error) === 'ESRCH'
  }
}

/** Of several that find it left, one moves it away. */
function release(path: string): void {
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
    rmSync(aside, { force: true })
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
