// This program itself: how it is run again, where its folder is, and with what memory it runs.

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
  return `${programNameAt(here())} ${command}`
}

/** A directory that is gone is no place in which sources are. */
function here(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Variables with which a process of ours takes less memory; what its person set stays. Node.js keeps what it compiled of our sources
 * from the first file on, and so never loads what reads TypeScript; and glibc has one heap for all threads and gives back what is free.
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

/** The names of those that are for this process, and not for what it starts. */
export function leanNames(env: Env): ReadonlySet<string> {
  return new Set(env[namesIn]?.split(' '))
}

const namesIn = 'AFIELD_LEAN'

/** Where this person's wrapper keeps what it knows: `AFIELD_HOME`, else `~/.afield`. Makes nothing. */
export function homePath(env: Readonly<Record<string, string | undefined>>): string {
  return resolve(env['AFIELD_HOME'] || join(homedir(), '.afield'))
}

/** Gives back memory that would else stay taken for as long as nothing happens, which may be all day. */
interface SpareMemory {
  /** Called whenever it may have changed whether something is worked at. */
  follow(isWorking: boolean): void
  close(): void
}

// By then what took it is over: a session is open, or nobody wrote again at once.
const afterMs = 3_000
// Collecting costs a few hundredths of a second, which short turns are not worth.
const worthBytes = 8 * 1024 * 1024

/** Once for what starting took, and then when a turn has left much behind. */
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
    // What was compiled goes too, whatever its age: most of it was for starting, and the rest is compiled again when it is called.
    setFlagsFromString('--bytecode-old-age=0')
    const collect: unknown = runInNewContext('gc')
    setFlagsFromString('--no-expose-gc')
    if (typeof collect === 'function') collect({ type: 'major', flavor: 'last-resort' })
    setFlagsFromString('--bytecode-old-age=6')
  }
}
