import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** What each process started that still runs, by the id of the process; empty where the system does not tell. */
export function readChildren(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const [pid, parent] of process.platform === 'darwin' ? parentsByPs() : parentsInProc()) {
    const siblings = children.get(parent)
    if (siblings) siblings.push(pid)
    else children.set(parent, [pid])
  }
  return children
}

/** A process and everything below it. */
export function treeOf(pid: number, children: ReadonlyMap<number, readonly number[]>): number[] {
  return [pid, ...(children.get(pid) ?? []).flatMap(child => treeOf(child, children))]
}

/** What these processes take: their share of it, where the system counts what several use only once. */
export function memoryOf(pids: readonly number[]): { memoryBytes: number; memoryIs: 'share' | 'resident' } {
  if (process.platform === 'darwin') return { memoryBytes: residentByPs(pids), memoryIs: 'resident' }
  const shares = pids.map(pid => kibibytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+) kB/m))
  if (shares.every(share => share !== undefined)) return { memoryBytes: sum(shares), memoryIs: 'share' }
  const resident = pids.map(pid => kibibytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+) kB/m) ?? 0)
  return { memoryBytes: sum(resident), memoryIs: 'resident' }
}

function* parentsInProc(): Iterable<[number, number]> {
  for (const name of foldersIn('/proc')) {
    const stat = readSmall(`/proc/${name}/stat`)
    // The name of the program, in parentheses, may hold anything.
    const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
    if (parent !== undefined) yield [Number(name), Number(parent)]
  }
}

function* parentsByPs(): Iterable<[number, number]> {
  for (const line of ps(['-axo', 'pid=,ppid='])) {
    const [pid, parent] = line.trim().split(/\s+/).map(Number)
    if (pid !== undefined && parent !== undefined) yield [pid, parent]
  }
}

function residentByPs(pids: readonly number[]): number {
  return sum(ps(['-o', 'rss=', '-p', pids.join(',')]).map(line => Number(line.trim()) * 1024))
}

function ps(args: readonly string[]): string[] {
  const { stdout } = spawnSync('ps', args, { encoding: 'utf8' })
  return (stdout ?? '').split('\n').filter(line => line.trim() !== '')
}

function foldersIn(path: string): string[] {
  try {
    return readdirSync(path).filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** In bytes; undefined when the system does not tell, or the process has ended. */
function kibibytes(file: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(readSmall(file) ?? '')?.[1]
  return found === undefined ? undefined : Number(found) * 1024
}

function readSmall(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function sum(numbers: readonly (number | undefined)[]): number {
  return numbers.reduce<number>((all, one) => all + (one ?? 0), 0)
}
