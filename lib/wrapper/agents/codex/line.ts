import { Agent, WebSocket } from 'undici'
import * as z from 'zod'
import { version } from '../../../assets.ts'

/** A line to the app server of Codex: JSON-RPC in both directions, over its socket. */
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
  /** Others on the same server are asked too: who replies first counts. */
  onRequest(id: RequestId, method: string, params: unknown): void
}

/** The server understood and refused. */
export class Refused extends Error {}

class LineClosed extends Error {
  constructor() {
    super('Codex has exited.')
  }
}

/** Rejects when nobody listens there. */
export async function openLine(socketPath: string, handlers: LineHandlers): Promise<Line> {
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
    socket.addEventListener('error', ({ message }) => reject(new Error(message || 'Nothing listens there.')))
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

/** What has to be said before anything else. */
export async function greet(line: Line): Promise<void> {
  await line.request('initialize', {
    clientInfo: { name: 'afield', title: 'Afield', version: version() },
    capabilities: { experimentalApi: true, requestAttestation: false }
  })
  line.notify('initialized')
}

const message = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional()
})

/** What is no message is not for us. */
function readMessage(data: unknown): z.infer<typeof message> | undefined {
  try {
    return message.parse(JSON.parse(String(data)))
  } catch {
    return undefined
  }
}
