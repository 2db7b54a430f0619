import { existsSync } from 'node:fs'
import { systemClock } from '../../async/clock.ts'
import { openLocalBus } from '../../bus/local.ts'
import { CannotStart } from '../../exit.ts'
import { askLocal, type Progress } from '../../local-socket/ask.ts'
import type { ServerOptions } from '../../options.ts'
import * as v from '../../schema.ts'
import { existingDatabase, isPostgres, openStore } from '../../store/open.ts'
import { asOwnerOf } from '../data-directory.ts'
import { newId } from '../ids.ts'
import type { ControlDeps } from './command.ts'
import { type AskOf, type CommandName, commands, type ReplyOf } from './commands.ts'
import { runCommand, sentenceOf } from './run.ts'
import { controlFile } from './socket.ts'

type AskOptions = Pick<ServerOptions, 'data' | 'store'>

/**
 * Asks the server of the data directory to run a command. When none is running, opens the store under the same lock
 * and runs it here. Throws `CannotStart` with one sentence for the user.
 */
export async function askServer<Name extends CommandName>(
  options: AskOptions,
  name: Name,
  ask: AskOf<Name>,
  tell: (progress: Progress) => void = () => {}
): Promise<ReplyOf<Name>> {
  const running = await askLocal({ directory: options.data, file: controlFile, name, question: ask, tell })
  return checked(name, running ? running.reply : await runHere(options, name, ask, tell))
}

/** As above; undefined, and nothing is opened, when no server is running. */
export async function askRunningServer<Name extends CommandName>(
  data: string,
  name: Name,
  ask: AskOf<Name>
): Promise<ReplyOf<Name> | undefined> {
  const running = await askLocal({ directory: data, file: controlFile, name, question: ask })
  return running && checked(name, running.reply)
}

function checked<Name extends CommandName>(name: Name, reply: unknown): ReplyOf<Name> {
  const parsed = v.safeParse(commands[name].reply, reply)
  if (!parsed.success) throw new CannotStart('The server sent an unexpected answer; use the same version of both.')
  // The row of this name made it.
  return parsed.data as ReplyOf<Name>
}

async function runHere(options: AskOptions, name: CommandName, ask: unknown, tell: (progress: Progress) => void): Promise<unknown> {
  if (!existsSync(options.data))
    throw new CannotStart(`There is no data directory ${options.data}; give the one of the server with --data.`)
  const owned = isPostgres(options.store) ? options.data : existingDatabase(options.store, options.data)
  return asOwnerOf(owned, () => runWithStore(options, name, ask, tell))
}

async function runWithStore(options: AskOptions, name: CommandName, ask: unknown, tell: (progress: Progress) => void): Promise<unknown> {
  const store = await openStore(options.store, { dataDirectory: options.data, onBroken() {} })
  const bus = openLocalBus({ onError() {} })
  try {
    // A running server deletes the rest of a removed account.
    const leftoverSweep = { soon() {} }
    const deps: ControlDeps = { leftoverSweep, options, store, bus, now: Date.now, time: Date.now, clock: systemClock, newId }
    return await runCommand(deps, name, ask, tell)
  } catch (error) {
    const sentence = sentenceOf(error)
    throw sentence ? new CannotStart(sentence.says, sentence.exitCode, { cause: error }) : error
  } finally {
    await bus.close()
    await store.close()
  }
}
