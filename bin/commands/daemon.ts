import type { ArgumentsCamelCase, Argv } from 'yargs'
import {
  installDaemon,
  runDaemon,
  showDaemon,
  showLog,
  startInBackground,
  stopDaemon,
  uninstallDaemon
} from '../../lib/wrapper/daemon/commands.ts'
import { readServerOption, serverOption, wholeNumber } from '../wrapper-line.ts'

const actions = {
  start: startInBackground,
  stop: stopDaemon,
  status: showDaemon,
  logs: showLog,
  install: installDaemon,
  uninstall: uninstallDaemon,
  run: runDaemon
} as const

export function builder(line: Argv): Argv {
  return serverOption(line)
    .positional('action', { choices: Object.keys(actions), describe: 'What to do; the default is status' })
    .option('lines', { type: 'number', default: 50, requiresArg: true, describe: 'With logs: how many lines to print' })
    .option('follow', { type: 'boolean', alias: 'f', describe: 'With logs: keep printing new lines' })
    .option('keep-awake', { type: 'boolean', describe: 'With start and install: keep the computer from sleeping while a session works' })
    .example('$0 daemon start', 'let your phone start and resume sessions here')
    .example('$0 daemon install', 'also start it whenever you sign in')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const action = actions[(args['action'] ?? 'status') as keyof typeof actions]
  const follow = args['follow'] === true
  // Otherwise it would write forever to a reader that is gone.
  if (follow) process.stdout.on('error', () => process.exit())
  const keepAwake = typeof args['keep-awake'] === 'boolean' ? args['keep-awake'] : undefined
  process.exit(await action({ ...readServerOption(args), lines: wholeNumber(args, 'lines'), follow, keepAwake }))
}
