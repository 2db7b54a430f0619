import { readFileSync } from 'node:fs'

/**
 * `<process id>-<start>` of this process: what it owns carries this name. A process id alone comes again; with the time of
 * its start it names one process of this boot.
 */
export function ownName(): string {
  return `${process.pid}-${startOf(process.pid) ?? 0}`
}

/** The process that a name ends with, if that very process still runs. */
export function ownerOf(name: string): number | undefined {
  const [, digits, started] = /@(\d+)-(\d+)(?:\.json)?$/.exec(name) ?? []
  const pid = Number(digits)
  if (digits === undefined || !isRunning(pid)) return undefined
  const since = startOf(pid)
  return since === undefined || started === '0' || started === String(since) ? pid : undefined
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** In ticks since the system started; undefined where the system does not tell. */
function startOf(pid: number): number | undefined {
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
