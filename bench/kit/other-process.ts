import { readFileSync } from 'node:fs'

/** User and system time of a process in milliseconds, alone; unlike the time on the clock, other programs do not change it much. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

/** A kind of memory of a process in MB, as the system counts it. */
export function memoryOf(pid: number, kind: 'Pss' | 'Pss_Anon' | 'Private_Clean' | 'Private_Dirty'): number {
  return Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024
}
