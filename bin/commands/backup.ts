import type { ArgumentsCamelCase, Argv } from 'yargs'
import { makeBackup } from '../../lib/backup/make.ts'
import { processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { passphraseOptions, readNewPassphrase } from '../passphrase.ts'
import { progressLine } from '../progress-line.ts'
import { dataOptions, readDataOptions } from '../server-options.ts'
import { shownBytes } from '../table.ts'

export function builder(line: Argv): Argv {
  return passphraseOptions(dataOptions(line))
    .positional('target', { type: 'string', describe: 'A new file, or a directory to create it in' })
    .example('$0 backup /mnt/usb', 'one file with the database and the keys of the server')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const passphrase = await readNewPassphrase(args)
  const progress = progressLine(process.stderr)
  try {
    const made = await makeBackup({
      options: readDataOptions(args),
      target: String(args['target']),
      passphrase,
      now: Date.now(),
      tell: progress.show
    })
    progress.clear()
    const { accounts, sessions, messages } = made.holds
    const terminal = processTerminal()
    tell(terminal, `${made.file}  ${shownBytes(made.bytes)}`)
    tell(
      terminal,
      `Accounts: ${accounts}, sessions: ${sessions}, messages: ${messages}${made.keys.map(key => `, ${key}`).join('')}; every row was checked.`
    )
    if (!made.sealed) tell(terminal, 'It has no passphrase: anyone who reads the file learns who has an account, but cannot read messages.')
  } finally {
    progress.clear()
  }
}
