import { io, type Socket } from 'socket.io-client'
import { call } from '../kit/person.ts'
import type { History } from './history.ts'
import type { Random } from './random.ts'

/** Where a writer writes, and who keeps what it is told. */
export interface Desk {
  token: string
  session: string
  history: History
  random: Random
}

/** Somebody who writes to one session and, after the server died, goes on where it was not answered. */
export interface Writer {
  /** Writes until the server is gone. */
  run(url: string): Promise<void>
}

interface Draft {
  localId: string
  content: string
}

/** Posts batches, now and then twice at once, and repeats a batch until it is answered. */
export function httpWriter(name: string, desk: Desk): Writer {
  const drafts = draftsOf(name, desk.random)
  let pending: Draft[] = []
  return {
    async run(url) {
      for (;;) {
        if (pending.length === 0) pending = drafts(desk.random.between(1, 5))
        const times = desk.random.chance(0.2) ? 2 : 1
        const outcomes = await Promise.all(Array.from({ length: times }, () => post(url, desk, pending)))
        if (outcomes.includes('answered')) pending = []
        if (outcomes.includes('gone')) return
      }
    }
  }
}

/** Sends by the socket event `message`, now and then twice or by HTTP as well, and asks with a ping whether all was taken in. */
export function socketWriter(name: string, desk: Desk): Writer {
  const drafts = draftsOf(name, desk.random)
  let pending: Draft[] = []
  return {
    async run(url) {
      const socket = await connect(url, desk.token)
      if (!socket) return
      try {
        // What is asked of a socket that has just lost its server is never answered.
        while (socket.connected) {
          if (pending.length === 0) pending = drafts(desk.random.between(1, 8))
          for (const { localId, content } of pending) {
            const times = desk.random.chance(0.1) ? 2 : 1
            for (let time = 0; time < times; time += 1) socket.emit('message', { sid: desk.session, message: content, localId })
          }
          const posted = desk.random.chance(0.2) ? post(url, desk, pending) : undefined
          const answer: unknown = await socket.emitWithAck('ping').catch(() => undefined)
          await posted
          if (answer === undefined) return
          for (const draft of pending) desk.history.takenIn(desk.session, draft)
          pending = []
        }
      } finally {
        socket.disconnect()
      }
    }
  }
}

/** A connected socket, or undefined when the server went before. */
export async function connect(url: string, token: string): Promise<Socket | undefined> {
  const socket = io(url, { path: '/v1/updates', transports: ['websocket'], auth: { token }, forceNew: true, reconnection: false })
  return new Promise(resolve => {
    socket.once('connect', () => resolve(socket))
    socket.once('connect_error', () => resolve(undefined))
    // The server may go after it took the connection and before it let the client in.
    socket.once('disconnect', () => resolve(undefined))
  })
}

async function post(url: string, { token, session, history }: Desk, drafts: readonly Draft[]): Promise<'answered' | 'gone'> {
  try {
    const { status, body } = await call({ url }, 'POST', `/v3/sessions/${session}/messages`, { token, body: { messages: drafts } })
    if (status !== 200) {
      history.complain(`${session}: a batch was answered with ${status}`)
      return 'gone'
    }
    const contents = new Map(drafts.map(({ localId, content }) => [localId, content]))
    if (body.messages.length !== drafts.length) history.complain(`${session}: ${drafts.length} drafts, ${body.messages.length} answers`)
    for (const { seq, localId } of body.messages) history.acknowledged(session, { seq, localId, content: contents.get(localId) ?? '' })
    return 'answered'
  } catch {
    return 'gone'
  }
}

// Most are small, some fill a page of the database, a few several.
function draftsOf(writer: string, random: Random): (count: number) => Draft[] {
  let number = 0
  return count =>
    Array.from({ length: count }, () => {
      const size = random.chance(0.02) ? random.between(4_000, 20_000) : random.between(20, 400)
      const localId = `${writer}.${number++}`
      return { localId, content: `${localId} ${'x'.repeat(size)}` }
    })
}
