import { resolve } from 'node:path'
import type { ArgumentsCamelCase, Argv } from 'yargs'
import { type MoveProgress, moveStore } from '../../lib/transfer/move.ts'
import { processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { abortOnSignal } from '../drain.ts'
import { progressLine } from '../progress-line.ts'
import { directoryOptions, readDataOptions } from '../server-options.ts'
import { shownDuration } from '../table.ts'

export function builder(line: Argv): Argv {
  return directoryOptions(line)
    .positional('from', { type: 'string', describe: 'The store until now: sqlite:<file>' })
    .positional('to', { type: 'string', describe: 'An empty database: postgres://<user>@<host>/<database>' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const [from, to, { data }] = [String(args['from']), String(args['to']), readDataOptions(args)]
  const terminal = processTerminal()
  const progress = progressLine(process.stderr)
  try {
    const moved = await moveStore({ from, to, data, tell: reportTo(progress.show, text => tell(terminal, text)), signal: abortOnSignal() })
    progress.clear()
    tell(terminal, `Moved ${moved.rows} rows; each was read from both stores and compared (SHA-256 ${moved.digest}).`)
    tell(terminal, 'Start the server with --store and the URL of that database. Clients stay signed in and continue where they are.')
    tell(terminal, `Keep the file of the old store as a backup, but do not serve it: what clients then store there would be lost.`)
    const files = moved.files.map(name => resolve(data, name))
    if (files.length > 0) tell(terminal, `A server with another data directory also needs ${files.join(' and ')}.`)
  } finally {
    progress.clear()
  }
}

function reportTo(show: ReturnType<typeof progressLine>['show'], say: (line: string) => void): (progress: MoveProgress) => void {
  const beganAt = { copying: 0, comparing: 0 }
  return ({ step, rows, total, finished }) => {
    beganAt[step] ||= Date.now()
    const left = rows > 0 ? (Date.now() - beganAt[step]) * (total / rows - 1) : 0
    const verb = step === 'copying' ? 'copied' : 'compared'
    if (finished && finished.rows > 0 && !process.stderr.isTTY) say(`${finished.table}: ${finished.rows} rows ${verb}`)
    show(`${rows} of ${total} rows ${verb}, ${shownDuration(left)} left:`, { done: rows, total })
  }
}
