import type { ArgumentsCamelCase, Argv } from 'yargs'
import { logout } from '../../lib/wrapper/account/logout.ts'
import { readServerOption, serverOption } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return serverOption(line).option('yes', { type: 'boolean', alias: 'y', describe: 'End the sessions that run here without asking' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  process.exit(await logout({ ...readServerOption(args), isSure: args['yes'] === true }))
}
