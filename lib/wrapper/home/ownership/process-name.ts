import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'

/**
 * `<process id>-<start>` of this process: what it owns carries this name. A process id alone comes again; with the time of
 * its start it names one process of this boot.
 */
export function ownName(): string {
  own ??= nameOf(process.pid) ?? `${process.pid}-0`
  return own
}

let own: string | undefined

/** The same of another process; undefined when it does not run, or the system does not tell when it began. */
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

/** When a process began, in milliseconds since 1970; undefined when it does not run. */
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

/** In ticks since the system started, on macOS in seconds since 1970; undefined where the system does not tell. */
function startOf(pid: number): number | undefined {
  if (process.platform === 'darwin') return startByPs(pid)
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may hold anything.
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
