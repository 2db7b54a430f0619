import { appendFileSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isSingleFile, version } from '../../assets.ts'
import type { MachineHandlers } from '../../client/calls/machine-calls.ts'
import { plain } from '../terminal/style.ts'
import { logsIn, startLines } from './launch/launch.ts'

interface UpkeepDeps {
  home: string
  /** Ends the daemon, and lets a new process of the program take its place. */
  restart(): void
}

const runningVersion = version()
const usualLines = 200
const mostStartLines = 12
const mostLogBytes = 4 * 1024 * 1024

/** The daemon's log, its restart, and how to bring it up to date. */
export function upkeepMethods({ home, restart }: UpkeepDeps) {
  return {
    'start-log': ({ start }) => ({ lines: startLines(start, mostStartLines).map(withoutSecrets) }),
    log: ({ lines = usualLines }) => ({ lines: lastLines(home, lines).map(withoutSecrets) }),
    restart(_, _by, answered) {
      // The answer has to leave before the line is closed.
      void answered?.then(restart)
      return { message: 'The daemon restarts. Sessions continue.' }
    },
    update: () => howToUpdate()
  } satisfies Partial<MachineHandlers>
}

export function logFile(home: string): string {
  return join(logsIn(home), 'daemon.log')
}

/** What is too long is kept once, under another name. */
export function addToLog(home: string, line: string): void {
  try {
    const file = logFile(home)
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > mostLogBytes) renameSync(file, `${file}.1`)
    appendFileSync(file, `${line}\n`, { mode: 0o600 })
  } catch {
    // A full disk takes lines from the log, and the daemon from nobody.
  }
}

export function lastLines(home: string, count: number): string[] {
  const file = logFile(home)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-count)
}

/** None is written there; what a library says in an error may hold one all the same. */
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
      command: 'git pull',
      message: says(isReady, 'It runs from its sources; update them.')
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

function says(isReady: boolean, how: string): string {
  return isReady ? 'A newer version is installed already: restart the daemon.' : how
}
