import type * as v from '../../schema.ts'
import { backupCommands } from './backup.ts'
import { serverCommands } from './server.ts'
import { tokenCommands } from './tokens.ts'
import { userCommands } from './users.ts'

/**
 * Every command that `afield <command>` can send to a server, running or not. Each subject has a file next
 * to this one with its rows, and a line here.
 */
export const commands = {
  ...backupCommands,
  ...serverCommands,
  ...userCommands,
  ...tokenCommands
} as const

export type CommandName = keyof typeof commands
/** As written by the caller. */
export type AskOf<Name extends CommandName> = v.InferInput<(typeof commands)[Name]['ask']>
export type ReplyOf<Name extends CommandName> = v.InferOutput<(typeof commands)[Name]['reply']>

export function isCommand(name: string): name is CommandName {
  return Object.hasOwn(commands, name)
}
