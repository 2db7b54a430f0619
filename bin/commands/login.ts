import type { ArgumentsCamelCase, Argv } from 'yargs'
import { login } from '../../lib/wrapper/account/login.ts'
import { readServerOption, serverOption } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return serverOption(line).option('happy', { type: 'boolean', describe: 'Link with the app of Happy, another project: show its code' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const options = readServerOption(args)
  process.once('SIGINT', () => {
    // So that the next shell prompt starts on its own line.
    if (options.terminal.isTTY) options.terminal.write('\n')
    process.exit(130)
  })
  // A kept-alive connection would keep this process alive too.
  process.exit(await login({ ...options, forHappy: args['happy'] === true }))
}
