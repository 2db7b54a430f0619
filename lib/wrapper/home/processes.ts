// Processes of this computer: a name that outlives a process id, the children of each, memory use, and how
// a group ends.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { basename } from 'node:path'

/**
 * `<process id>-<start>` of this process, the name of its property. A process id alone is reused; with its
 * start time it identifies one process of this boot.
 */
export function ownName(): string {
  own ??= nameOf(process.pid) ?? `${process.pid}-0`
  return own
}

let own: string | undefined

/** The same for another process; undefined if it is not running, or its start time is unknown. */
export function nameOf(pid: number): string | undefined {
  const start = startOf(pid)
  return start === undefined || start < 0 ? undefined : `${pid}-${start}`
}

/** The process that a name ends with, if that very process still runs. */
export function ownerOf(name: string): number | undefined {
  const [, digits, started] = /@(\d+)-(\d+)(?:\.json)?$/.exec(name) ?? []
  const pid = Number(digits)
  if (digits === undefined || !isRunning(pid)) return undefined
  const since = startOf(pid)
  return since === undefined || started === '0' || started === String(since) ? pid : undefined
}

/** When a process began, in milliseconds since 1970; undefined if it is not running. */
export function beganAt(pid: number): number | undefined {
  const start = startOf(pid)
  if (start === undefined || start < 0) return undefined
  return process.platform === 'darwin' ? start * 1000 : Math.round(Date.now() - uptime() * 1000 + start * (1000 / ticksInSecond))
}

const ticksInSecond = 100

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/**
 * In ticks since the system started, on macOS in seconds since 1970; undefined if the system does not
 * provide it.
 */
function startOf(pid: number): number | undefined {
  if (process.platform === 'darwin') return startByPs(pid)
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state] = fields
    return state === 'Z' ? -1 : Number(fields[19])
  } catch {
    return undefined
  }
}

function startByPs(pid: number): number | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' }
  })
  const at = Date.parse(stdout ?? '')
  return Number.isNaN(at) ? undefined : at / 1000
}

/** The running children of each process, by its id; empty if the system does not provide it. */
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

/** What the shells among these run, as it was called; undefined if the system does not provide it. */
export function inShells(pids: readonly number[], children: ReadonlyMap<number, readonly number[]>): string[] | undefined {
  if (process.platform === 'win32') return undefined
  const called = new Map(pids.map(pid => [pid, argumentsOf(pid)]))
  return pids.flatMap(pid => {
    if (!isShell(called.get(pid)?.[0])) return []
    const below = (children.get(pid) ?? []).flatMap(child => called.get(child) ?? [])
    return below.length === 0 || (children.get(pid) ?? []).some(child => isShell(called.get(child)?.[0]))
      ? []
      : [below.join(' ').slice(0, mostCalled)]
  })
}

const mostCalled = 200

function isShell(program = ''): boolean {
  return /^-?(ba|z|da|k|fi|a)?sh$/.test(basename(program))
}

function argumentsOf(pid: number): string[] {
  if (process.platform === 'darwin')
    return (
      ps(['-o', 'command=', '-p', String(pid)])[0]
        ?.trim()
        .split(' ') ?? []
    )
  return (readSmall(`/proc/${pid}/cmdline`) ?? '').split('\0').filter(word => word !== '')
}

/** The memory of these processes: their proportional share, where the system provides it. */
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
    // The name of the program, in parentheses, may contain anything.
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

/** In bytes; undefined if the system does not provide it, or the process has ended. */
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

/** Windows has no process groups: there a process is killed with all its children, at once. */
export const hasGroups = process.platform !== 'win32'

/** Signals the group that a process leads; nothing happens if it has ended. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    if (hasGroups) process.kill(-pid, signal)
    else spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore', windowsHide: true })
  } catch {
    // Nothing of it is left.
  }
}
