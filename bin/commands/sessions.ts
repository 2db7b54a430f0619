import type { ArgumentsCamelCase, Argv } from 'yargs'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { listSessions } from '../../lib/wrapper/home/session-folder.ts'
import { describeSessions, drawSessions, findSessions, numbered } from '../../lib/wrapper/terminal/session-list.ts'
import { styleFor } from '../../lib/wrapper/terminal/style.ts'
import { note } from '../../lib/wrapper/terminal/terminal.ts'
import { anyWords, readServerOption, wordsOf } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return line
    .positional('words', anyWords('Only sessions with these words in their title, folder, agent or ID'))
    .option('json', { type: 'boolean', describe: 'Print the sessions as a JSON array' })
}

export function handler(args: ArgumentsCamelCase): void {
  const { home, terminal, env } = readServerOption(args)
  const words = wordsOf(args, 'words')
  const found = findSessions(numbered(listSessions(home.path)), words)
  if (args['json'] === true) {
    terminal.write(`${JSON.stringify(describeSessions(found), undefined, 2)}\n`)
    return
  }
  const lines = drawSessions(found, Date.now(), styleFor(terminal, env), terminal.columns, { ids: true })
  if (found.length > 0) terminal.write(`${lines.join('\n')}\n`)
  else
    note(
      words.length > 0
        ? 'No session matches these words.'
        : `No session has run on this computer yet. Start one with:\n  ${typed('claude')}`
    )
}
