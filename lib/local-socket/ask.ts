import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CannotStart, exitCodes } from '../exit.ts'
import * as v from '../schema.ts'
import { hasLocalSockets, withAddress } from './address.ts'

/** How far long work has come, in units of its own such as pages. */
export interface Progress {
  done: number
  total: number
}

interface AskOptions {
  directory: string
  file: string
  name: string
  question: unknown
  tell?: ((progress: Progress) => void) | undefined
}

/**
 * Asks whoever listens on the socket. Undefined when nobody does. Throws `CannotStart` with the sentence for the person when it
 * refuses, belongs to another user, or ends before it has answered.
 */
export async function askLocal({ directory, file, name, question, tell }: AskOptions): Promise<{ reply: unknown } | undefined> {
  if (!hasLocalSockets) return undefined
  try {
    return { reply: await withAddress(directory, file, address => askAt(address, name, question, tell)) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    // A process that was killed leaves its socket behind; nobody listens there.
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined
    if (code === 'EACCES') throw new CannotStart(`${join(directory, file)} belongs to another user; run this as that one.`)
    throw error
  }
}

const line = v.union([
  v.strictObject({ progress: v.object({ done: v.number(), total: v.number() }) }),
  v.strictObject({ refused: v.object({ says: v.string(), exitCode: v.int() }) }),
  v.strictObject({ reply: v.unknown() })
])

async function askAt(socketPath: string, name: string, ask: unknown, tell: AskOptions['tell']): Promise<unknown> {
  const body = JSON.stringify(ask)
  const { promise: answered, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const headers = { 'content-length': Buffer.byteLength(body) }
  // No connection is kept: the next process in this place is another one.
  request({ socketPath, path: `/${name}`, method: 'POST', headers, agent: false }, resolve)
    .once('error', reject)
    .end(body)
  const answer = await answered
  // One that ends meanwhile is told of below.
  answer.on('error', () => {})
  for await (const said of createInterface({ input: answer })) {
    const told = v.parse(line, JSON.parse(said))
    if ('progress' in told) tell?.(told.progress)
    else if ('refused' in told) throw new CannotStart(told.refused.says, told.refused.exitCode)
    else return told.reply
  }
  throw new CannotStart('The server ended before it had answered.', exitCodes.storage)
}
