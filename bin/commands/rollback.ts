import type { ArgumentsCamelCase, Argv } from 'yargs'
import { ownProgramFile } from '../../lib/upgrade/installation.ts'
import { goBack } from '../../lib/upgrade/rollback.ts'
import { findServer } from '../../lib/upgrade/running-server.ts'
import { systemdUnitOf } from '../../lib/upgrade/supervisor.ts'
import { processTerminal, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { progressLine } from '../progress-line.ts'
import { dataOptions, readDataOptions } from '../server-options.ts'

export function builder(line: Argv): Argv {
  return dataOptions(line).option('discard-newer-data', {
    type: 'boolean',
    describe: 'If the database goes back too, move aside what was stored since the upgrade'
  })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const file = ownProgramFile()
  const options = readDataOptions(args)
  const progress = progressLine(process.stderr)
  try {
    const server = await findServer(options.data)
    const supervisor = server && (await systemdUnitOf(server.pid))
    const { version, copy } = await goBack({
      file,
      options,
      supervisor,
      mayDiscard: args['discardNewerData'] === true,
      tell: progress.show,
      signal: new AbortController().signal
    })
    progress.clear()
    const terminal = processTerminal()
    tell(terminal, supervisor ? `${supervisor.name} runs version ${version} again.` : `Version ${version} is in place again.`)
    if (copy !== undefined) tell(terminal, `The database is that of ${copy}; the newer one was moved to a directory before-… beside it.`)
    if (!server) tell(terminal, 'No server was running, and none was started: start it yourself.')
    if (server && !supervisor)
      tell(terminal, `The server in process ${server.pid} runs the newer version until you stop it and start it again.`)
  } finally {
    progress.clear()
  }
}
