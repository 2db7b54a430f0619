import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Creates a folder only its owner may enter [W6]; permissions of an existing one are restricted. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700)
}

/**
 * Replaces a file atomically and durably: readers see the old text or the new one. Only its owner may read
 * it [W6].
 */
export function writePrivateFile(path: string, text: string): void {
  const next = `${path}.${process.pid}.new`
  const file = openSync(next, 'w', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  } finally {
    closeSync(file)
  }
  renameSync(next, path)
  syncFolder(dirname(path))
}

/** On disk when it returns; a crash meanwhile leaves part of the text. Only its owner may read it [W6]. */
export function appendPrivateFile(path: string, text: string): void {
  const file = openSync(path, 'a', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Undefined if there is no such file. */
export function readPrivateFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Makes a new or renamed name in the folder survive a power cut. Windows has no such thing and needs none. */
export function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

const waitMs = 5
const waitAtMostMs = 3000
// Longer than any work under a lock: for a process that died before it recorded its name.
const longestHeldMs = 30_000

/** Does the work while no other process does work under the same lock. The lock of a dead process is removed. */
export function withFileLock<Result>(path: string, work: () => Result): Result {
  const until = performance.now() + waitAtMostMs
  while (!take(path)) {
    if (isLeft(path)) release(path)
    else if (performance.now() > until) throw new Error(`Another Afield process has held ${path} for too long.`)
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

/** Of several that find it abandoned, one moves it away. */
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

/** A file that always has the last written content. */
interface NotesFile {
  /** On disk when it returns; while the disk rejects writes, as soon as it accepts them. */
  write(text: string): void
  /** The last write is not on disk yet. */
  readonly isWaiting: boolean
  /** Resolves when the last write is on disk. */
  settled(): Promise<void>
  /** Called with the reason at each failed attempt, and with undefined when everything is on disk. */
  onWaiting(heard: (why: unknown) => void): void
  /** Stops writing. */
  close(): void
}

const retryMs = 1000

export function openNotesFile(path: string): NotesFile {
  let waiting: { text: string; why: unknown; timer: NodeJS.Timeout; written: PromiseWithResolvers<void> } | undefined
  let onWaiting: (why: unknown) => void = () => {}
  let isClosed = false

  const write = (text: string) => {
    if (isClosed) return
    try {
      writePrivateFile(path, text)
    } catch (error) {
      // While a write waits there is no caller to throw to.
      if (!waiting && !passes(error)) throw error
      if (waiting) Object.assign(waiting, { text, why: error })
      else waiting = { text, why: error, timer: setInterval(() => write(waiting?.text ?? text), retryMs), written: Promise.withResolvers() }
      onWaiting(error)
      return
    }
    if (!waiting) return
    clearInterval(waiting.timer)
    waiting.written.resolve()
    waiting = undefined
    onWaiting(undefined)
  }
  return {
    write,
    get isWaiting() {
      return waiting !== undefined
    },
    settled: async () => waiting?.written.promise,
    onWaiting(heard) {
      onWaiting = heard
      if (waiting) heard(waiting.why)
    },
    close() {
      isClosed = true
      clearInterval(waiting?.timer)
    }
  }
}

/** Errors that a person, or time, can fix: a full disk, an intermittent one, too many open files. */
function passes(error: unknown): boolean {
  return error instanceof Error && 'code' in error && passing.has(String(error.code))
}

const passing = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE'])
