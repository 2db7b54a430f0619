import { readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { withDeadline } from '../../../async/deadline.ts'
import { untilFound, type WatchOptions, watchFolders } from '../folder-watch.ts'
import { writePrivateFile } from '../private-files.ts'
import { ownerOf, ownName } from './process-name.ts'

// Who wants the folder of a session leaves its name in it; that of a process that is no more wants nothing.
const prefix = 'wanted@'

/** Whether another process wants to go on with what is in the folder. */
export function isWanted(folder: string): boolean {
  return wishes(folder).some(name => name !== ownWish() && ownerOf(name) !== undefined)
}

/** Aborts when somebody wants the folder. */
export function whenWanted(folder: string, options?: WatchOptions): { signal: AbortSignal; close(): void } {
  const wanted = new AbortController()
  const look = () => {
    if (isWanted(folder)) wanted.abort(new Error('the session is gone on with'))
  }
  const watching = watchFolders(look, options)
  watching.add(folder)
  look()
  return { signal: wanted.signal, close: watching.close }
}

/** Asks whoever delivers what is in the folder to leave it, and resolves once `find` says that nobody does any more. */
export function untilFree<Found extends { path: string; deliverer: number | undefined }>(
  find: () => Found | undefined,
  withinMs: number,
  options?: WatchOptions
): Promise<Found> {
  const whenFree = (watch: (folder: string) => void) => {
    const found = find()
    if (!found || found.deliverer === undefined) return found
    watch(dirname(found.path))
    want(found.path)
    return undefined
  }
  return withDeadline(withinMs, signal => untilFound(whenFree, signal, options))
}

export function wantNoMore(folder: string): void {
  for (const name of wishes(folder)) if (name === ownWish() || ownerOf(name) === undefined) rmSync(join(folder, name), { force: true })
}

function want(folder: string): void {
  try {
    if (!wishes(folder).includes(ownWish())) writePrivateFile(join(folder, ownWish()), '')
  } catch {
    // It was given another name meanwhile.
  }
}

function wishes(folder: string): string[] {
  try {
    return readdirSync(folder).filter(name => name.startsWith(prefix))
  } catch {
    return []
  }
}

function ownWish(): string {
  return `${prefix}${ownName()}`
}
