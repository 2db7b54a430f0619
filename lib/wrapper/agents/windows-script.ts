import { basename } from 'node:path'
import { CannotStart } from '../../exit.ts'

export interface Command {
  command: string
  args: readonly string[]
  /** Whether the shell of Windows starts it. */
  shell: boolean
}

/**
 * What npm installs on Windows are scripts, which only its shell starts. That reads some signs in a way of its own, and no quotes keep it from
 * all of them: a command with such a sign is refused.
 */
export function startable(command: string, args: readonly string[], platform: string = process.platform): Command {
  if (platform !== 'win32' || !/\.(cmd|bat)$/i.test(command)) return { command, args, shell: false }
  const odd = args.find(arg => !/^[\w@+=:,./\\-]+$/.test(arg))
  if (odd !== undefined) throw new CannotStart(`${basename(command)} cannot be started on Windows with ${odd}.`)
  return { command: `"${command}"`, args, shell: true }
}
