import { watch } from 'node:fs'
import { type Clock, systemClock } from '../../async/clock.ts'

interface FolderWatch {
  /** Folders already watched stay watched. Read the content afterwards: earlier changes are not reported. */
  add(folder: string): void
  close(): void
}

export interface WatchOptions {
  clock?: Clock | undefined
  lookEveryMs?: number | undefined
}

const lookAnywayMs = 1000

/**
 * Calls back when a name in one of the folders is added, removed or written. It also calls back every
 * `lookEveryMs`: no folder reports the death of a process, and network disks and systems with too many
 * watches report nothing at all.
 */
export function watchFolders(onChange: () => void, { clock = systemClock, lookEveryMs = lookAnywayMs }: WatchOptions = {}): FolderWatch {
  const closeByFolder = new Map<string, () => void>()
  const look = () => {
    cancel = clock.after(lookEveryMs, look)
    onChange()
  }
  let cancel = clock.after(lookEveryMs, look)
  return {
    add(folder) {
      if (!closeByFolder.has(folder)) closeByFolder.set(folder, watchOne(folder, onChange))
    },
    close() {
      cancel()
      for (const close of closeByFolder.values()) close()
      closeByFolder.clear()
    }
  }
}

function watchOne(folder: string, onChange: () => void): () => void {
  try {
    const watcher = watch(folder, onChange)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    return () => {}
  }
}

/** Resolves with the result of `find` once there is one. It names the folders to watch before it reads them. */
export async function untilFound<Found>(
  find: (watch: (folder: string) => void) => Found | undefined,
  signal: AbortSignal,
  options?: WatchOptions
): Promise<Found> {
  const { promise, resolve, reject } = Promise.withResolvers<Found>()
  const look = () => {
    try {
      const found = find(watching.add)
      if (found !== undefined) resolve(found)
    } catch (error) {
      reject(error)
    }
  }
  const watching = watchFolders(look, options)
  const abandon = () => reject(signal.reason)
  signal.addEventListener('abort', abandon, { once: true })
  try {
    signal.throwIfAborted()
    look()
    return await promise
  } finally {
    signal.removeEventListener('abort', abandon)
    watching.close()
  }
}
