import { readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './error-code.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const megabyte = 1_000_000

/** The directory and its files must belong to the server's user alone. */
export function examineDirectory(data: string): Finding {
  const of = 'data directory'
  try {
    const { mode, uid } = statSync(data)
    const own = process.getuid?.()
    if (own !== undefined && own !== 0 && uid !== own) {
      return fail(of, `${data} belongs to another user (uid ${uid})`, `Run this and the server as that user, or: chown -R ${own} ${data}`)
    }
    if (process.platform === 'win32') return ok(of, data)
    const open = readdirSync(data).filter(name => isOpen(join(data, name)))
    if ((mode & 0o077) !== 0) return warn(of, `${data} is accessible to other users`, `chmod 700 ${data}`)
    if (open.length > 0) return warn(of, `${open.join(', ')} can be read by other users`, `chmod go= ${data}/*`)
    return ok(of, `${data}, private`)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return fail(of, `${data} does not exist`, 'Start the server once, or give its directory with --data')
    return fail(of, `${data} cannot be read (${codeOf(error)})`, 'Run this as the user of the server')
  }
}

function isOpen(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true && (stats.mode & 0o077) !== 0
}

/** Space for new data, and for a copy of the existing data. */
export function examineSpace(data: string, free = freeBytes(data)): Finding {
  const of = 'disk'
  const needed = readdirSync(data).reduce((sum, name) => sum + (statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0), 0)
  const says = `${shown(free)} free, the server uses ${shown(needed)}`
  if (free < 64 * megabyte) return fail(of, says, 'Free some space now, because writes are rejected when the disk is full')
  if (free < needed + 256 * megabyte)
    return warn(of, says, 'Free some space for the copy that a backup makes, or move the data to a larger disk')
  return ok(of, says)
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

function shown(bytes: number): string {
  return bytes < 1000 * megabyte ? `${Math.round(bytes / megabyte)} MB` : `${(bytes / megabyte / 1000).toFixed(1)} GB`
}
