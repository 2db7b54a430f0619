import { chmodSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { CannotStart } from '../../exit.ts'
import { type Logger, noteOf } from '../log.ts'
import { controlSocketOf, hasControlSocket, withAddress } from './address.ts'
import type { ControlDeps } from './command.ts'
import { isCommand } from './commands.ts'
import { runCommand, sentenceOf } from './run.ts'

const mostQuestionBytes = 64 * 1024

export interface Control {
  close(): Promise<void>
}

export interface ControlSocketDeps extends ControlDeps {
  log: Logger
  /** Told once of every unexpected error. */
  onError: (error: unknown) => void
}

/**
 * Answers `POST /<command>` on `control.sock` in the data directory, for its owner alone. The body is the question in
 * JSON; the answer is a line of JSON for each step of progress and a last one with `reply` or `refused`. A socket that
 * nobody listens at was left by a server that died, and is replaced; servers with stores of their own may share a
 * directory, and then the first keeps it. Where none can be made, such as on some network disks, the server goes on
 * without and says so in its log.
 */
export async function openControl(deps: ControlSocketDeps): Promise<Control> {
  if (!hasControlSocket) return nothing
  const { data } = deps.options
  const server = createServer((request, response) => {
    serve(deps, request, response).catch(error => {
      deps.onError(error)
      response.destroy()
    })
  })
  let own: number
  try {
    if (await isAnswered(data)) throw new CannotStart('Another server in this directory has the control socket.')
    own = await listenIn(data, server)
  } catch (error) {
    server.close()
    deps.log.warn({ error: noteOf(error) }, 'There is no control socket: commands need the server to be stopped')
    return nothing
  }
  return {
    async close() {
      if (fileAt(data) === own) rmSync(controlSocketOf(data), { force: true })
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    }
  }
}

const nothing: Control = { close: async () => {} }

// Made where nobody else can reach it, so that it is never open to others, not even for a moment.
async function listenIn(data: string, server: Server): Promise<number> {
  const birthplace = mkdtempSync(join(data, 'control-'))
  try {
    await withAddress(birthplace, 's', address => listenOn(server, address))
    chmodSync(join(birthplace, 's'), 0o600)
    const { ino } = statSync(join(birthplace, 's'))
    renameSync(join(birthplace, 's'), controlSocketOf(data))
    return ino
  } finally {
    rmSync(birthplace, { recursive: true, force: true })
  }
}

function fileAt(data: string): number | undefined {
  return statSync(controlSocketOf(data), { throwIfNoEntry: false })?.ino
}

function isAnswered(data: string): Promise<boolean> {
  if (fileAt(data) === undefined) return Promise.resolve(false)
  return withAddress(data, 'control.sock', async address => {
    const socket = connect(address)
    const isOpen = await new Promise<boolean>(resolve => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    return isOpen
  })
}

function listenOn(server: Server, address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(address, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function serve(deps: ControlSocketDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const say = (line: object) => response.write(`${JSON.stringify(line)}\n`)
  response.setHeader('content-type', 'application/x-ndjson')
  try {
    const question = await questionOf(request)
    say({ reply: await runCommand(deps, commandOf(request), question, progress => say({ progress })) })
  } catch (error) {
    const sentence = sentenceOf(error)
    if (!sentence) deps.onError(error)
    say({ refused: sentence ?? { says: 'The server met an unexpected error; its log says which.', exitCode: 70 } })
  }
  response.end()
}

function commandOf({ method, url }: IncomingMessage) {
  const name = url?.slice(1) ?? ''
  if (method === 'POST' && isCommand(name)) return name
  throw new CannotStart('The server that is running knows no such command; it may be of another version than this program.')
}

// Taken to its end even when it is too long: an answer sent before that may never be read.
async function questionOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= mostQuestionBytes) chunks.push(chunk)
  }
  if (bytes > mostQuestionBytes) throw new CannotStart('The question is too long.')
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    throw new CannotStart('The question is not JSON.')
  }
}
