import { existsSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { systemClock } from '../../async/clock.ts'
import { openLocalBus } from '../../bus/local.ts'
import { CannotStart, exitCodes } from '../../exit.ts'
import type { ServerOptions } from '../../options.ts'
import { openStore } from '../../store/open.ts'
import { newId } from '../ids.ts'
import { controlSocketOf, hasControlSocket, withAddress } from './address.ts'
import type { ControlDeps, Progress } from './command.ts'
import { type AskOf, type CommandName, commands, type ReplyOf } from './commands.ts'
import { runCommand, sentenceOf } from './run.ts'

type AskOptions = Pick<ServerOptions, 'data' | 'store'>

/**
 * Has the server that uses the data directory run a command. When none is running, opens the store under the same lock
 * and runs it here. Throws `CannotStart` with the one sentence for the person who asked.
 */
export async function askServer<Name extends CommandName>(
  options: AskOptions,
  name: Name,
  ask: AskOf<Name>,
  tell: (progress: Progress) => void = () => {}
): Promise<ReplyOf<Name>> {
  return checked(name, (await askRunning(options.data, name, ask, tell)) ?? (await runHere(options, name, ask, tell)))
}

/** As above; undefined, and nothing is opened, when no server is running. */
export async function askRunningServer<Name extends CommandName>(
  data: string,
  name: Name,
  ask: AskOf<Name>
): Promise<ReplyOf<Name> | undefined> {
  const reply = await askRunning(data, name, ask, () => {})
  return reply === undefined ? undefined : checked(name, reply)
}

function checked<Name extends CommandName>(name: Name, reply: unknown): ReplyOf<Name> {
  const parsed = commands[name].reply.safeParse(reply)
  if (!parsed.success) throw new CannotStart('The server answered in another way than this program expects; use the same version of both.')
  // The row of this name made it.
  return parsed.data as ReplyOf<Name>
}

/** Undefined when no server listens there. */
async function askRunning(data: string, name: string, ask: unknown, tell: (progress: Progress) => void): Promise<unknown> {
  if (!hasControlSocket) return undefined
  try {
    return await withAddress(data, 'control.sock', address => askAt(address, name, ask, tell))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    // A server that was killed leaves its socket behind; nobody listens there.
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined
    if (code === 'EACCES') throw new CannotStart(`${controlSocketOf(data)} belongs to another user; run this as that one.`)
    throw error
  }
}

const line = z.union([
  z.strictObject({ progress: z.object({ done: z.number(), total: z.number() }) }),
  z.strictObject({ refused: z.object({ says: z.string(), exitCode: z.int() }) }),
  z.strictObject({ reply: z.unknown() })
])

async function askAt(socketPath: string, name: string, ask: unknown, tell: (progress: Progress) => void): Promise<unknown> {
  const body = JSON.stringify(ask)
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const headers = { 'content-length': Buffer.byteLength(body) }
  // No connection is kept: the next server in this place is another one.
  request({ socketPath, path: `/${name}`, method: 'POST', headers, agent: false }, resolve)
    .once('error', reject)
    .end(body)
  const answer = await answered
  // A server that ends meanwhile is told of below.
  answer.on('error', () => {})
  for await (const said of createInterface({ input: answer })) {
    const told = line.parse(JSON.parse(said))
    if ('progress' in told) tell(told.progress)
    else if ('refused' in told) throw new CannotStart(told.refused.says, told.refused.exitCode)
    else return told.reply
  }
  throw new CannotStart('The server ended before it had answered.', exitCodes.storage)
}

async function runHere(options: AskOptions, name: CommandName, ask: unknown, tell: (progress: Progress) => void): Promise<unknown> {
  if (!existsSync(options.data))
    throw new CannotStart(`There is no data directory ${options.data}; name the one of the server with --data.`)
  const store = await openStore(options.store, { dataDirectory: options.data, onBroken() {} })
  const bus = openLocalBus({ onError() {} })
  try {
    const deps: ControlDeps = { options, store, bus, now: Date.now, clock: systemClock, newId }
    return await runCommand(deps, name, ask, tell)
  } catch (error) {
    const sentence = sentenceOf(error)
    throw sentence ? new CannotStart(sentence.says, sentence.exitCode, { cause: error }) : error
  } finally {
    await bus.close()
    await store.close()
  }
}
