import type { ArgumentsCamelCase, Argv } from 'yargs'
import { cryptoReady } from '../../lib/crypto/ready.ts'
import { findDamaged } from '../../lib/wrapper/home/session-folder.ts'
import { recoverSessions, takeFromOthers } from '../../lib/wrapper/session/recovery.ts'
import { note, tell } from '../../lib/wrapper/terminal/terminal.ts'
import { fetch } from '../../lib/wrapper/uplink/network.ts'
import { readServerOption, wholeNumber } from '../wrapper-line.ts'

export function builder(line: Argv): Argv {
  return line.option('seconds', { type: 'number', default: 60, requiresArg: true, describe: 'How long to try, for each session' })
}

export async function handler(args: ArgumentsCamelCase): Promise<void> {
  const { home, terminal } = readServerOption(args)
  await cryptoReady()
  await takeFromOthers(home.path)
  const { found, delivered } = await recoverSessions({ home, fetch, withinMs: 1000 * wholeNumber(args, 'seconds'), onTrouble: note })
  const damaged = findDamaged(home.path)
  if (found === 0 && damaged.length === 0) tell(terminal, 'Nothing to deliver: all messages of earlier sessions were sent.')
  if (found > 0) tell(terminal, `Delivered ${delivered} of ${found} earlier ${found === 1 ? 'session' : 'sessions'}.`)
  for (const path of damaged) note(`The messages in ${path} cannot be delivered: the file is damaged.`)
  process.exit(delivered === found && damaged.length === 0 ? 0 : 1)
}
