import { chmodSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { CannotStart } from '../exit.ts'
import { withAddress } from './address.ts'

const mostQuestionBytes = 64 * 1024

/** The message for a person whose question was not answered. */
interface Refusal {
  says: string
  exitCode: number
}

interface LocalSocketOptions {
  directory: string
  file: string
  /**
   * Handles `POST /<name>` and resolves to the reply. `tell` reports progress. Both are sent as JSON. `answered`
   * resolves once the reply was sent, or its caller has disconnected.
   */
  answer(name: string, question: unknown, tell: (progress: object) => void, answered: Promise<void>): Promise<unknown>
  refusalOf(error: unknown): Refusal
  /** Called for errors outside any answer, such as a caller that disconnected. */
  onError(error: unknown): void
}

export interface LocalSocket {
  close(): Promise<void>
}

/**
 * Answers `POST /<name>` on a Unix socket that only its owner can use [W7]. The body is the question in JSON; the
 * answer is one line of JSON per progress report, and a last one with `reply` or `refused`. A socket that nothing
 * listens on was left by a process that died, and is replaced. Rejects if a process listens there, or if no socket
 * can be created, such as on some network disks.
 */
export async function openLocalSocket(options: LocalSocketOptions): Promise<LocalSocket> {
  const { directory, file } = options
  const server = createServer((request, response) => {
    serve(options, request, response).catch(error => {
      options.onError(error)
      response.destroy()
    })
  })
  const path = join(directory, file)
  let own: number
  try {
    if (await isAnswered(directory, file)) throw new CannotStart(`Another process listens at ${path}.`)
    own = await listenIn(directory, file, server)
  } catch (error) {
    server.close()
    throw error
  }
  return {
    async close() {
      // A socket that another process has put in its place stays.
      if (fileAt(path) === own) rmSync(path, { force: true })
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    }
  }
}

// Created where nobody else can reach it, so that it is never open to others, not even for a moment.
async function listenIn(directory: string, file: string, server: Server): Promise<number> {
  const birthplace = mkdtempSync(join(directory, 'control-'))
  try {
    await withAddress(birthplace, 's', address => listenOn(server, address))
    chmodSync(join(birthplace, 's'), 0o600)
    const { ino } = statSync(join(birthplace, 's'))
    renameSync(join(birthplace, 's'), join(directory, file))
    return ino
  } finally {
    rmSync(birthplace, { recursive: true, force: true })
  }
}

function fileAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

function isAnswered(directory: string, file: string): Promise<boolean> {
  if (fileAt(join(directory, file)) === undefined) return Promise.resolve(false)
  return withAddress(directory, file, async address => {
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

async function serve({ answer, refusalOf }: LocalSocketOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const say = (line: object) => response.write(`${JSON.stringify(line)}\n`)
  const answered = new Promise<void>(resolve => response.once('finish', resolve).once('close', resolve))
  response.setHeader('content-type', 'application/x-ndjson')
  try {
    const question = await questionOf(request)
    say({ reply: await answer(nameIn(request), question, progress => say({ progress }), answered) })
  } catch (error) {
    say({ refused: refusalOf(error) })
  }
  response.end()
}

/** Empty for a request that is not a question; no question has that name. */
function nameIn({ method, url }: IncomingMessage): string {
  return method === 'POST' ? (url?.slice(1) ?? '') : ''
}

// Read to its end even if it is too long: an answer sent before that may never be read.
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
