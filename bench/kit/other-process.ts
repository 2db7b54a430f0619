import { readFileSync } from 'node:fs'

/** User and system time of one process in milliseconds; unlike elapsed time, it hardly depends on other programs. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

/** One kind of memory of a process in MB, as reported by the system. */
export function memoryOf(pid: number, kind: 'Pss' | 'Pss_Anon' | 'Private_Clean' | 'Private_Dirty'): number {
  return Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024
}
