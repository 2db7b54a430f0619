import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a folder only its owner may enter [W6]; one that is there and open to others is closed to them. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o700)
}

/** Replaces a file as one step that survives power loss: readers see the old text or the new one. Only its owner may read it [W6]. */
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

/** Undefined when there is no such file. */
export function readPrivateFile(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Makes a new or renamed name in the folder survive power loss. Windows has no such thing and needs none. */
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

/** A file that always holds what was written last. */
interface NotesFile {
  /** On disk when it returns; while the disk takes nothing, as soon as it does again. */
  write(text: string): void
  /** What was written last is not on disk yet. */
  readonly isWaiting: boolean
  /** Resolves when what was written last is on disk. */
  settled(): Promise<void>
  /** Hears why something waits, at each try that failed, and with undefined that all is on disk. */
  onWaiting(heard: (why: unknown) => void): void
  /** Writes nothing any more. */
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
      // While something waits there is nobody to throw it to.
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

/** What a person, or time, can put right: a full disk, one that fails now and then, too many open files. */
function passes(error: unknown): boolean {
  return error instanceof Error && 'code' in error && passing.has(String(error.code))
}

const passing = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE'])
