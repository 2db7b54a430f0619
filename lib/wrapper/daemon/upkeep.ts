import { appendFileSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isSingleFile, version } from '../../assets.ts'
import type { MachineHandlers } from '../../client/calls/machine-calls.ts'
import { plain } from '../terminal/style.ts'
import { logsIn, startLines } from './launch/launch.ts'

interface UpkeepDeps {
  home: string
  /** Ends the daemon, and lets a new process of the program replace it. */
  restart(): void
}

const runningVersion = version()
const usualLines = 200
const mostStartLines = 12
const mostLogBytes = 4 * 1024 * 1024

/** The daemon's log, its restart, and how to update it. */
export function upkeepMethods({ home, restart }: UpkeepDeps) {
  return {
    'start-log': ({ start }) => ({ lines: startLines(start, mostStartLines).map(withoutSecrets) }),
    log: ({ lines = usualLines }) => ({ lines: lastLines(home, lines).map(withoutSecrets) }),
    restart(_, _by, answered) {
      // The answer has to be sent before the connection is closed.
      void answered?.then(restart)
      return { message: 'The daemon restarts. Sessions continue.' }
    },
    update: () => howToUpdate()
  } satisfies Partial<MachineHandlers>
}

export function logFile(home: string): string {
  return join(logsIn(home), 'daemon.log')
}

/** A log that is too long is kept once, under another name. */
export function appendToLog(home: string, line: string): void {
  try {
    const file = logFile(home)
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > mostLogBytes) renameSync(file, `${file}.1`)
    appendFileSync(file, `${line}\n`, { mode: 0o600 })
  } catch {
    // A full disk may lose log lines, but must not stop the daemon.
  }
}

export function lastLines(home: string, count: number): string[] {
  const file = logFile(home)
  return existsSync(file) ? lastOf(readFileSync(file, 'utf8'), count) : []
}

export function lastOf(log: string, count: number): string[] {
  return log.trimEnd().split('\n').slice(-count)
}

/** No secret is logged on purpose; a library's error may contain one. */
function withoutSecrets(line: string): string {
  return plain(line)
    .replace(/[A-Za-z0-9+_=-]{40,}/g, '…')
    .replace(/(bearer|token|secret|key)([ =:]+)\S{8,}/gi, '$1$2…')
}

function howToUpdate() {
  const own = { version: runningVersion }
  if (isSingleFile()) {
    const isReady = statSync(process.execPath).mtimeMs > Date.now() - process.uptime() * 1000
    return {
      ...own,
      installed: 'binary' as const,
      isReady,
      message: says(isReady, `Replace ${process.execPath} with the new program.`)
    }
  }
  // Replaced on disk while this process runs.
  const isReady = version() !== runningVersion
  const file = fileURLToPath(import.meta.url)
  if (!/[\\/]node_modules[\\/]/.test(file)) {
    return {
      ...own,
      installed: 'source' as const,
      isReady,
      command: `cd ${quoted(resolve(file, '../../../..'))} && git pull && npm ci`,
      message: says(isReady, 'It runs from its sources; update those.')
    }
  }
  const command = 'npm install -g afield@latest'
  return {
    ...own,
    installed: 'npm' as const,
    isReady,
    command,
    message: says(isReady, 'It was installed with npm; update it with npm yourself.')
  }
}

/** For a shell, if it has to be. */
function quoted(path: string): string {
  return /^[\w./:\\-]+$/.test(path) ? path : `"${path}"`
}

function says(isReady: boolean, how: string): string {
  return isReady ? 'A newer version is already installed: restart the daemon.' : how
}
