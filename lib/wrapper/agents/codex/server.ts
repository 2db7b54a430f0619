import { readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Agent, WebSocket } from 'undici'
import { version } from '../../../assets.ts'
import { pause } from '../../../async/pause.ts'
import { CannotStart } from '../../../exit.ts'
import * as v from '../../../schema.ts'
import { makePrivateFolder } from '../../home/private-files.ts'
import { ownerOf, ownName } from '../../home/processes.ts'
import { type AgentProcess, startProcess } from '../process.ts'

export interface CodexServer {
  /** Where its own screen finds it. */
  readonly address: string
  readonly line: Line
  readonly process: AgentProcess
}

interface ServerOptions {
  /** The wrapper's home: the socket is in a private folder of it. */
  home: string
  codex: string
  directory: string
  env: Readonly<Record<string, string>>
  handlers: LineHandlers
}

const listeningWithinMs = 30_000
const lookEveryMs = 40
let started = 0

/**
 * A Codex app server that only this user can reach, and a connection to it. Throws CannotStart if it does
 * not start.
 */
export async function startCodexServer({ home, codex, directory, env, handlers }: ServerOptions): Promise<CodexServer> {
  const folder = join(home, 'sockets')
  makePrivateFolder(folder)
  for (const name of readdirSync(folder)) if (ownerOf(name) === undefined) rmSync(join(folder, name), { force: true })
  const socket = join(folder, `codex-${++started}@${ownName()}`)
  const address = `unix://${socket}`
  const child = await startProcess({ command: codex, args: ['app-server', '--listen', address], directory, env })
  let hasEnded: string | undefined
  void child.ended.then(how => {
    hasEnded = how
    rmSync(socket, { force: true })
  })
  const giveUpAt = performance.now() + listeningWithinMs
  for (;;) {
    try {
      // The path of a socket must be short: Codex gets a short one, and a link to it is here.
      return { address, line: await openLine(realpathSync(socket), handlers), process: child }
    } catch (error) {
      if (hasEnded !== undefined) throw refusal(`Codex did not start its app server (${hasEnded}).`, child)
      if (performance.now() > giveUpAt) {
        await child.end(0)
        throw refusal(`The app server of Codex did not listen within ${listeningWithinMs / 1000} s. ${sentenceOf(error)}`, child)
      }
    }
    await pause(lookEveryMs)
  }
}

function refusal(sentence: string, child: AgentProcess): CannotStart {
  const last = child.lastLines()
  return new CannotStart(last === '' ? sentence : `${sentence}\nIts last output:\n${last.replace(/^/gm, '  ')}`)
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A connection to Codex's app server: JSON-RPC in both directions, over its socket. */
export interface Line {
  /** Rejects with Refused when the server says no, and with LineClosed when it is gone. */
  request(method: string, params: unknown): Promise<unknown>
  notify(method: string): void
  reply(id: RequestId, result: unknown): void
  readonly closed: Promise<void>
  readonly isClosed: boolean
  close(): void
}

export type RequestId = string | number

export interface LineHandlers {
  onNotification(method: string, params: unknown): void
  /** Other clients of the server are asked too: the first reply wins. */
  onRequest(id: RequestId, method: string, params: unknown): void
}

/** The server understood and rejected it. */
export class Refused extends Error {}

class LineClosed extends Error {
  constructor() {
    super('Codex has exited.')
  }
}

/** Rejects if nobody listens there. */
async function openLine(socketPath: string, handlers: LineHandlers): Promise<Line> {
  const dispatcher = new Agent({ connect: { socketPath } })
  const socket = new WebSocket('ws://localhost/', { dispatcher })
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  const waiting = new Map<RequestId, { resolve(result: unknown): void; reject(error: Error): void }>()
  let lastId = 0

  socket.addEventListener('message', ({ data }) => {
    const message = readMessage(data)
    if (!message) return
    if (message.method !== undefined) {
      if (message.id === undefined) handlers.onNotification(message.method, message.params)
      else handlers.onRequest(message.id, message.method, message.params)
      return
    }
    const request = message.id === undefined ? undefined : waiting.get(message.id)
    if (!request || message.id === undefined) return
    waiting.delete(message.id)
    if (message.error) request.reject(new Refused(message.error.message))
    else request.resolve(message.result)
  })
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new LineClosed())
    waiting.clear()
    void dispatcher.destroy()
    close()
  })
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve())
    socket.addEventListener('error', ({ message }) => reject(new Error(message || 'Nothing is listening there.')))
  })
  const isOpen = () => socket.readyState === WebSocket.OPEN
  const send = (message: object) => {
    if (isOpen()) socket.send(JSON.stringify(message))
  }
  return {
    async request(method, params) {
      if (!isOpen()) throw new LineClosed()
      const id = ++lastId
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        send({ id, method, params })
      })
    },
    notify: method => send({ method }),
    reply: (id, result) => send({ id, result }),
    closed,
    get isClosed() {
      return !isOpen()
    },
    close: () => socket.close()
  }
}

/** The handshake. */
export async function greet(line: Line): Promise<void> {
  await line.request('initialize', {
    clientInfo: { name: 'afield', title: 'Afield', version: version() },
    capabilities: { experimentalApi: true, requestAttestation: false }
  })
  line.notify('initialized')
}

const message = v.object({
  id: v.optional(v.union([v.string(), v.number()])),
  method: v.optional(v.string()),
  params: v.optional(v.unknown()),
  result: v.optional(v.unknown()),
  error: v.optional(v.object({ message: v.string() }))
})

/** Anything that is not a message is ignored. */
function readMessage(data: unknown): v.InferOutput<typeof message> | undefined {
  try {
    return v.parse(message, JSON.parse(String(data)))
  } catch {
    return undefined
  }
}
