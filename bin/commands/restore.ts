import type { ArgumentsCamelCase, Argv } from 'yargs'
import { restoreBackup } from '../../lib/backup/restore.ts'
import { CannotStart } from '../../lib/exit.ts'
import { processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { passphraseOptions, readPassphrase } from '../passphrase.ts'
import { progressLine } from '../progress-line.ts'
import { dataOptions, readDataOptions } from '../server-options.ts'

export function builder(line: Argv): Argv {
  return passphraseOptions(dataOptions(line))
    .positional('file', { type: 'string', describe: 'The backup, or a copy before-schema-….db of a database' })
    .option('force', { type: 'boolean', describe: 'Move existing data in the data directory aside' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const progress = progressLine(process.stderr)
  const passphrase = async () => {
    const given = await readPassphrase(args, 'Passphrase of the backup: ')
    if (given === undefined)
      throw new CannotStart('The backup is encrypted; give its passphrase with --passphrase-file or $AFIELD_BACKUP_PASSPHRASE.')
    return given
  }
  try {
    const options = readDataOptions(args)
    const restored = await restoreBackup({
      options,
      file: String(args['file']),
      passphrase,
      force: args['force'] === true,
      now: Date.now(),
      tell: progress.show
    })
    progress.clear()
    const { madeAt, holds } = restored.manifest
    const terminal = processTerminal()
    tell(terminal, `Restored the backup of ${new Date(madeAt).toISOString()} into ${options.data}.`)
    tell(terminal, `Accounts: ${holds.accounts}, sessions: ${holds.sessions}, messages: ${holds.messages}; every row was checked.`)
    if (restored.putAside.length > 0) tell(terminal, `The previous data is in ${restored.putAside.join(' and ')}.`)
    tell(terminal, `${restored.endedTokens} sign-ins revoked since the backup stay revoked. Apps reload everything when they reconnect.`)
    tell(terminal, "For 24 hours, sign-ins of Happy's apps with a known key need approval in an app that is signed in.")
  } finally {
    progress.clear()
  }
}
