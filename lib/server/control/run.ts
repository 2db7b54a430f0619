import { CannotStart, exitCodes } from '../../exit.ts'
import type { Progress } from '../../local-socket/ask.ts'
import type { FailureCode } from '../../protocol/wire/failures.ts'
import * as v from '../../schema.ts'
import { failureOf } from '../refusals.ts'
import type { Command, ControlDeps } from './command.ts'
import { type CommandName, commands } from './commands.ts'

/** Parses a request and runs the command. Throws what the command throws; `CannotStart` for an invalid request. */
export async function runCommand(deps: ControlDeps, name: CommandName, ask: unknown, tell: (progress: Progress) => void): Promise<unknown> {
  // One table, one entry point: the rows guarantee that request and command match.
  const command = commands[name] as unknown as Command<v.GenericSchema, v.GenericSchema>
  const parsed = v.safeParse(command.ask, ask)
  if (!parsed.success) throw new CannotStart(`Invalid input for ${name}: ${new v.Misfit(parsed.problem).message}.`)
  return command.run(deps, parsed.data, tell)
}

/** The disk or the database is failing; a restart may help. */
const ofStorage = new Set<FailureCode>(['storage-full', 'storage-busy', 'storage-failed', 'row-damaged'])

/** The user's message for a failed command; undefined for an unexpected error. */
export function sentenceOf(error: unknown): { says: string; exitCode: number } | undefined {
  if (error instanceof CannotStart) return { says: error.message, exitCode: error.exitCode }
  const known = failureOf(error)
  if (known) return { says: known.detail ?? known.message, exitCode: ofStorage.has(known.code) ? exitCodes.storage : 1 }
  return undefined
}
