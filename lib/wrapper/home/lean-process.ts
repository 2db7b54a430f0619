import { join } from 'node:path'

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
