import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { CannotStart } from '../exit.ts'

/** What restarts the server: the service manager that started it. */
export interface Supervisor {
  /** As the person knows it, such as `afield.service`. */
  name: string
  restart(): Promise<void>
  stop(): Promise<void>
  start(): Promise<void>
}

const run = promisify(execFile)

/**
 * The systemd unit whose main process that is; undefined if it is none, such as a server in a terminal. Throws `CannotStart` if it is a unit that
 * this user may not restart.
 */
export async function systemdUnitOf(pid: number, cgroup: (pid: number) => string = cgroupOf): Promise<Supervisor | undefined> {
  if (process.platform !== 'linux') return undefined
  const found = unitIn(cgroup(pid))
  if (!found) return undefined
  const scope = found.isOfUser ? ['--user'] : []
  const systemctl = async (...words: string[]) => (await run('systemctl', [...scope, ...words])).stdout.trim()
  // A program started from a unit, such as a shell of the SSH server, is not what the unit restarts.
  const main = await systemctl('show', '--property', 'MainPID', '--value', found.unit).catch(() => '')
  if (main !== String(pid)) return undefined
  if (!found.isOfUser && process.getuid?.() !== 0) {
    throw new CannotStart(`The server runs as ${found.unit}, which only root may restart: run this command with sudo.`)
  }
  const does = (verb: string) => async () => {
    await systemctl(verb, found.unit).catch((error: Error) => {
      throw new CannotStart(`systemctl could not ${verb} ${found.unit}: ${error.message.trim().split('\n').at(-1)}`, 1, { cause: error })
    })
  }
  return { name: found.unit, restart: does('restart'), stop: does('stop'), start: does('start') }
}

function cgroupOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    return ''
  }
}

/** The innermost unit in the text of `/proc/<pid>/cgroup`. A scope, such as that of a terminal, is not one that can be restarted. */
export function unitIn(cgroup: string): { unit: string; isOfUser: boolean } | undefined {
  const path = /^(?:0:|\d+:name=systemd):(.*)$/m.exec(cgroup)?.[1]
  const unit = path?.split('/').at(-1)
  if (path === undefined || unit === undefined || !/^[\w:.@\\-]+\.service$/.test(unit)) return undefined
  return { unit, isOfUser: /\/user@\d+\.service\//.test(path) }
}
