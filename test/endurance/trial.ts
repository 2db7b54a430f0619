import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'

/** Ends what a trial has opened. */
export type Keeper = Pick<Test, 'teardown'>

/** What came of a trial: one line with figures, and a sentence for each promise that was not kept. */
export interface Outcome {
  told: string
  complaints: string[]
  /** What counts as a round and a check of it, where it is more than the trial itself and its size. */
  figures?: { rounds: number; checks: number }
}

export const mib = 1024 * 1024

/** What a process holds in memory now, and the most it ever held, in bytes. */
export function memoryOf(pid: number | undefined): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
  return { now: read('VmRSS'), most: read('VmHWM') }
}

/** What a process holds now; the most it held counts anew from here. */
export function memoryFromNow(pid: number | undefined): number {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  return memoryOf(pid).now
}
