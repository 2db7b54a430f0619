import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CannotStart, exitCodes } from '../exit.ts'
import * as v from '../schema.ts'
import { hasLocalSockets, withAddress } from './address.ts'

/** The progress of long work, in its own units, such as pages. */
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
 * Sends a question to the process that listens on the socket. Undefined if none does. Throws `CannotStart`, with a
 * sentence for the person, if that process rejects it, belongs to another user, or exits before it has answered.
 */
export async function askLocal({ directory, file, name, question, tell }: AskOptions): Promise<{ reply: unknown } | undefined> {
  if (!hasLocalSockets) return undefined
  try {
    return { reply: await withAddress(directory, file, address => askAt(address, name, question, tell)) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    // A killed process leaves its socket behind; nothing listens there.
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined
    if (code === 'EACCES') throw new CannotStart(`${join(directory, file)} belongs to another user; run this command as that user.`)
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
  // Connections are not reused: the next process at this path is a different one.
  request({ socketPath, path: `/${name}`, method: 'POST', headers, agent: false }, resolve)
    .once('error', reject)
    .end(body)
  const answer = await answered
  // If the server exits meanwhile, that is reported below.
  answer.on('error', () => {})
  for await (const said of createInterface({ input: answer })) {
    const message = v.parse(line, JSON.parse(said))
    if ('progress' in message) tell?.(message.progress)
    else if ('refused' in message) throw new CannotStart(message.refused.says, message.refused.exitCode)
    else return message.reply
  }
  throw new CannotStart('The server exited before it answered.', exitCodes.storage)
}
