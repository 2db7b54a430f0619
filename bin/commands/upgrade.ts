import type { ArgumentsCamelCase, Argv } from 'yargs'
import { version } from '../../lib/assets.ts'
import { ownProgramFile, previousOf } from '../../lib/upgrade/installation.ts'
import { ownReleaseKey } from '../../lib/upgrade/release.ts'
import { systemdUnitOf } from '../../lib/upgrade/supervisor.ts'
import { upgradeProgram } from '../../lib/upgrade/upgrade.ts'
import { processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { progressLine } from '../progress-line.ts'
import { dataOptions, readDataOptions } from '../server-options.ts'
import { wholeNumber } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return dataOptions(line)
    .positional('source', { type: 'string', describe: 'A folder with a release, the program in it, or its address; there is no default' })
    .option('trial', { type: 'boolean', default: true, describe: 'First try the new version on a copy of the data' })
    .option('ready-within', {
      type: 'number',
      requiresArg: true,
      default: 60,
      describe: 'Seconds until the new server must be ready, in addition to three times what the trial took'
    })
    .example('$0 upgrade ./afield-0.2.0', 'the folder of a downloaded release')
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const file = ownProgramFile()
  const keys = ownReleaseKey()
  const progress = progressLine(process.stderr)
  const terminal = processTerminal()
  const stopping = new AbortController()
  const stop = () => stopping.abort(new Error('Stopped; nothing was changed.'))
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    const done = await upgradeProgram({
      source: String(args['source']),
      keys,
      file,
      version: version(),
      options: readDataOptions(args),
      hasTrial: args['trial'] !== false,
      readyWithinMs: wholeNumber(args, 'readyWithin') * 1000,
      supervisorOf: pid => systemdUnitOf(pid),
      now: Date.now(),
      tell: progress.show,
      signal: stopping.signal
    })
    progress.clear()
    if (done.type === 'current') return tell(terminal, `This is version ${done.version} already; nothing to do.`)
    if (done.type === 'restarted') tell(terminal, `${done.service} runs version ${done.version}.`)
    else tell(terminal, `Version ${done.version} is installed.`)
    if (done.type === 'installed' && done.others.length === 0)
      tell(terminal, 'No server was running, and none was started: start it yourself.')
    for (const pid of done.others) tell(terminal, `The server in process ${pid} runs the old version until you stop it and start it again.`)
    tell(terminal, `The previous version is ${previousOf(file)}; "afield rollback" goes back to it.`)
  } finally {
    progress.clear()
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
