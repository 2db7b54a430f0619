// This program itself: how it is started again, where its folder is, and its memory use.

import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isSingleFile, programNameAt } from '../../assets.ts'
import { type Clock, systemClock } from '../../async/clock.ts'

/** How to run this very program with other arguments: from the sources, from the package, or as one file. */
export function ownProgram(args: readonly string[]): { command: string; args: string[] } {
  const [, script] = process.argv
  const before = isSingleFile() || script === undefined ? [] : [...process.execArgv, script]
  return { command: process.execPath, args: [...before, ...args] }
}

/** A command of this program as the person at the terminal has to type it. */
export function typed(command: string): string {
  return `${programNameAt()} ${command}`
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Variables that reduce the memory of our processes; the person's own values stay. Node.js reuses its
 * compile cache from the first file on, and so never loads the TypeScript parser; and glibc uses one heap
 * for all threads and returns free memory.
 */
export function leanEnvironment(env: Env, home: string): Record<string, string> {
  const wanted = {
    NODE_COMPILE_CACHE: join(home, 'compiled'),
    MALLOC_ARENA_MAX: '1',
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '131072',
    MALLOC_TOP_PAD_: '65536'
  }
  const ours = Object.entries(wanted).filter(([name]) => env[name] === undefined)
  return { ...Object.fromEntries(ours), [namesIn]: ours.map(([name]) => name).join(' ') }
}

/** The names of those that are for this process, and not for its children. */
export function leanNames(env: Env): ReadonlySet<string> {
  return new Set(env[namesIn]?.split(' '))
}

const namesIn = 'AFIELD_LEAN'

/** This person's wrapper folder: `AFIELD_HOME`, else `~/.afield`. Creates nothing. */
export function homePath(env: Readonly<Record<string, string | undefined>>): string {
  return resolve(env['AFIELD_HOME'] || join(homedir(), '.afield'))
}

/**
 * Frees memory that would otherwise stay in use while nothing happens, which may be all day: 14 to 30 MB of a session's
 * process and 27 MB of the daemon's, as `bench remote` measures it.
 */
interface SpareMemory {
  /** Called whenever work may have started or ended. */
  follow(isWorking: boolean): void
  close(): void
}

// By then the work is over: a session is open, or no further prompt followed.
const afterMs = 3_000
// A collection costs some hundredths of a second, too much for short turns.
const worthBytes = 8 * 1024 * 1024

/** Once after startup, and then when a turn has left much garbage. */
export function spareMemory(heap: Heap = ownHeap, clock: Clock = systemClock): SpareMemory {
  let taken = 0
  let wasWorking = false
  const collect = () => {
    if (heap.bytes() < taken + worthBytes) return
    heap.collect()
    taken = heap.bytes()
  }
  let cancel = clock.after(afterMs, collect)
  return {
    follow(isWorking) {
      if (isWorking === wasWorking) return
      wasWorking = isWorking
      cancel()
      if (!isWorking) cancel = clock.after(afterMs, collect)
    },
    close: () => cancel()
  }
}

interface Heap {
  bytes(): number
  collect(): void
}

const ownHeap: Heap = {
  bytes: () => getHeapStatistics().total_physical_size,
  collect() {
    setFlagsFromString('--expose-gc')
    // Compiled code is dropped too, whatever its age: most of it was for startup, and the rest is compiled
    // again when called.
    setFlagsFromString('--bytecode-old-age=0')
    const collect: unknown = runInNewContext('gc')
    setFlagsFromString('--no-expose-gc')
    if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' })
    setFlagsFromString('--bytecode-old-age=6')
  }
}
