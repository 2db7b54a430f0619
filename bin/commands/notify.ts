import type { ArgumentsCamelCase, Argv } from 'yargs'
import { CannotStart } from '../../lib/exit.ts'
import { notify } from '../../lib/wrapper/account/notifications.ts'
import { typed } from '../../lib/wrapper/home/own-process.ts'
import { anyWords, readServerOption, serverOption, wordsOf } from '../wrapper-line.ts'

const mostLetters = 500

export function builder(line: Argv): Argv {
  return serverOption(line)
    .positional('words', anyWords('The text to show. The server can read it, unlike agent messages'))
    .option('session', {
      type: 'string',
      requiresArg: true,
      describe: 'ID of the session it belongs to; by default the newest one on this computer'
    })
    .example('make; $0 notify The build is done', 'notify the phone when it is done')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const text = wordsOf(args, 'words').join(' ').trim()
  if (text === '') throw new CannotStart(`What should your phone show? For example:\n  ${typed('notify The build is done')}`)
  if (text.length > mostLetters) throw new CannotStart(`A notification has at most ${mostLetters} characters; this one has ${text.length}.`)
  const session = typeof args['session'] === 'string' ? args['session'] : undefined
  process.exit(await notify({ ...readServerOption(args), text, session }))
}
