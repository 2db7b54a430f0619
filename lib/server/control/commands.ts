import type * as z from 'zod'
import { backupCommands } from './backup.ts'
import { serverCommands } from './server.ts'
import { tokenCommands } from './tokens.ts'
import { userCommands } from './users.ts'

/**
 * Everything that `afield <command>` can ask of a server, running or not. Each subject has a file beside this one with
 * its rows, and a line here.
 */
export const commands = {
  ...backupCommands,
  ...serverCommands,
  ...userCommands,
  ...tokenCommands
} as const

export type CommandName = keyof typeof commands
/** As the one who asks writes it. */
export type AskOf<Name extends CommandName> = z.input<(typeof commands)[Name]['ask']>
export type ReplyOf<Name extends CommandName> = z.output<(typeof commands)[Name]['reply']>

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name)
}
