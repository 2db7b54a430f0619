import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { askRunningServer } from '../server/control/ask.ts'

interface RunningServer {
  pid: number
  version: string
  isListening: boolean
}

/** The server that uses a data directory, by its own account; undefined if none does. */
export async function findServer(data: string): Promise<RunningServer | undefined> {
  const status = await askRunningServer(data, 'readStatus', {})
  return status && { pid: status.pid, version: status.version, isListening: status.serving?.url !== undefined }
}

/** Waits until a server of that version serves the data; false if there is none in time. */
export async function becomesReady(data: string, version: string, withinMs: number, tell: () => void): Promise<boolean> {
  const until = performance.now() + withinMs
  do {
    // Its socket may be that of a server that is about to end.
    const server = await findServer(data).catch(() => undefined)
    if (server?.version === version && server.isListening) return true
    tell()
    await delay(200)
  } while (performance.now() < until)
  return false
}

/** Other servers that run that file, such as with another data directory. Known on Linux only. */
export function othersRunning(file: string, except: number | undefined): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter(pid => Number.isInteger(pid) && pid > 0 && pid !== process.pid && pid !== except && isServing(pid, file))
}

function isServing(pid: number, file: string): boolean {
  try {
    return realpathSync(`/proc/${pid}/exe`) === file && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1] === 'serve'
  } catch {
    // It has ended, or belongs to someone else.
    return false
  }
}
