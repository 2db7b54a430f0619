import { readdirSync, readFileSync } from 'node:fs'

/** User and system time of one process in milliseconds; unlike elapsed time, it hardly depends on other programs. */
export function cpuOf(pid: number): number {
  const { own } = statOf(pid)
  return own
}

/** The same of a process and all its children, those that have ended included. */
export function cpuWithChildren(pid: number): number {
  const { own, ended } = statOf(pid)
  const children = readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? childOf(pid, Number(name)) : []))
  return children.reduce((sum, child) => sum + child.own + child.ended, own + ended)
}

function childOf(parent: number, pid: number): { own: number; ended: number }[] {
  try {
    const stat = statOf(pid)
    return stat.parent === parent ? [stat] : []
  } catch {
    // It has ended since.
    return []
  }
}

function statOf(pid: number): { parent: number; own: number; ended: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = (first: number) => 10 * (Number(fields[first]) + Number(fields[first + 1]))
  return { parent: Number(fields[1]), own: ticks(11), ended: ticks(13) }
}

/** One kind of memory of a process in MB, as reported by the system. */
export function memoryOf(pid: number, kind: 'Pss' | 'Pss_Anon' | 'Private_Clean' | 'Private_Dirty'): number {
  return Number(new RegExp(`^${kind}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024
}
