import { writePrivateFile } from './private-files.ts'

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
