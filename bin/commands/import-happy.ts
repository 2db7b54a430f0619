import type { ArgumentsCamelCase, Argv } from 'yargs'
import { importedKinds } from '../../lib/transfer/happy.ts'
import { importHappy } from '../../lib/transfer/import-happy.ts'
import { plain, styleFor } from '../../lib/wrapper/terminal/style.ts'
import { processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { abortOnSignal } from '../drain.ts'
import { progressLine } from '../progress-line.ts'
import { dataOptions, readDataOptions } from '../server-options.ts'
import { drawTable } from '../table.ts'

export function builder(line: Argv): Argv {
  return dataOptions(line)
    .positional('database', { type: 'string', describe: 'That of the Happy server: postgres://<user>@<host>/<database>' })
    .option('attachments', { type: 'string', requiresArg: true, describe: 'Folder with a copy of its bucket' })
    .option('owner', { type: 'string', requiresArg: true, describe: 'ID of the account that becomes the owner; by default the oldest' })
    .option('check', { type: 'boolean', describe: 'Only say what would be imported, and what would be left out' })
    .example('$0 import-happy <url> --check', 'what an import would do')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const textOf = (name: string) => (typeof args[name] === 'string' ? args[name] : undefined)
  const isCheck = args['check'] === true
  const terminal = processTerminal()
  const progress = progressLine(process.stderr)
  try {
    const { counts, remarks } = await importHappy({
      ...{ from: String(args['database']), ...readDataOptions(args), attachments: textOf('attachments') },
      ...{ isCheck, owner: textOf('owner'), signal: abortOnSignal() },
      tell: ({ accounts, messages }) => progress.show(`${accounts} accounts and ${messages} messages read`)
    })
    progress.clear()
    for (const remark of remarks) tell(terminal, plain(remark))
    const rows = importedKinds.map(kind => [kind, String(counts[kind].imported), String(counts[kind].leftOut)])
    terminal.write(
      `\n${drawTable(['', isCheck ? 'would be imported' : 'imported', 'left out'], rows, styleFor(terminal, process.env), terminal.columns)}\n`
    )
    if (isCheck) tell(terminal, 'Nothing was written.')
    else if (counts.accounts.imported > 0) {
      tell(
        terminal,
        'Give this server the address of the old one: apps sign in again by themselves, and computers that only have a token are linked again.'
      )
    }
  } finally {
    progress.clear()
  }
}
