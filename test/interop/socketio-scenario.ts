import { once } from 'node:events'
import type { Socket } from 'socket.io-client'
import { withDeadline } from '../../lib/async/deadline.ts'
import { type Account, callAs } from './socketio-account.ts'
import type { ClientLibrary } from './socketio-cache.ts'

interface Stage {
  library: ClientLibrary
  account: Account
  session: string
  open(transports: string[], more?: object): Socket
}

/** What is asked of each version, by the name of its column. */
export const questions: Record<string, (stage: Stage) => Promise<void>> = {
  async connect({ open }) {
    const socket = open(['websocket'])
    await connected(socket)
    mustBe(transportOf(socket), 'websocket')
  },
  async refusal({ open }) {
    const [error] = await once(emitter(open(['websocket'], { auth: { token: 'wrong' } })), 'connect_error')
    mustBe(error.message, 'Invalid authentication token')
  },
  async ack({ open }) {
    mustBe(JSON.stringify(await acknowledged(await connected(open(['websocket'])), 'ping')), '{}')
  },
  async event({ open, session }) {
    const [app, agent] = [await connected(open(['websocket'])), await connected(open(['websocket']))]
    const heard = once(emitter(app), 'update')
    agent.emit('message', { sid: session, message: 'c2VhbGVk', localId: crypto.randomUUID() })
    const [{ body }] = await heard
    mustBe(body.message.content.c, 'c2VhbGVk')
  },
  async call({ open, session }) {
    const auth = { clientType: 'session-scoped', sessionId: session }
    const [app, agent] = [await connected(open(['websocket'])), await connected(open(['websocket'], { scope: auth }))]
    const registered = once(emitter(agent), 'rpc-registered')
    agent.emit('rpc-register', { method: `${session}:echo` })
    await registered
    agent.on('rpc-request', ({ params }, reply) => reply(`${params} back`))
    const answer = await acknowledged(app, 'rpc-call', { method: `${session}:echo`, params: 'there' })
    mustBe(JSON.stringify(answer), JSON.stringify({ ok: true, result: 'there back' }))
  },
  async binary({ open }) {
    const socket = await connected(open(['websocket']))
    // No event of ours carries bytes: they are taken apart, found to be none, and the connection goes on.
    const answer = await acknowledged(socket, 'update-metadata', {
      sid: Buffer.from('bytes'),
      metadata: Buffer.alloc(9),
      expectedVersion: 0
    })
    mustBe(JSON.stringify(answer), JSON.stringify({ result: 'error', message: 'Invalid parameters' }))
    await acknowledged(socket, 'ping')
  },
  async reconnect({ open }) {
    const socket = await connected(open(['websocket']))
    const back = once(emitter(socket), 'connect')
    socket.io.engine.close()
    await back
    await acknowledged(socket, 'ping')
  },
  async polling({ open }) {
    const socket = await connected(open(['polling']))
    await acknowledged(socket, 'ping')
    mustBe(transportOf(socket), 'polling')
  },
  // What only our clients know is not sent to one that does not ask for it, however it is connected.
  async silence({ open, session, account }) {
    for (const transport of ['websocket', 'polling']) {
      const [app, agent] = [open([transport]), open([transport], { scope: { clientType: 'session-scoped', sessionId: session } })]
      const heard: string[] = []
      for (const socket of [app, agent]) {
        socket.on('update', ({ body }) => heard.push(body.t))
        socket.on('ephemeral', ({ type }) => heard.push(type))
        await connected(socket)
      }
      agent.emit('message', { sid: session, message: 'c2VhbGVk', localId: crypto.randomUUID() })
      agent.emit('partial', { sid: session, partial: 'Z3Jvd3M=' })
      await acknowledged(agent, 'ping')
      // Up to the newest, which nobody marked yet.
      mustBe(typeof (await callAs(account, `/v1/sessions/${session}/receipts`, { readSeq: 2_000_000_000 })).readSeq, 'number')
      for (const socket of [agent, app]) await acknowledged(socket, 'ping')
      mustBe(heard.filter(each => each !== 'activity').join(' '), 'new-message')
      for (const socket of [app, agent]) socket.disconnect()
    }
  },
  async upgrade({ open }) {
    const socket = open(['polling', 'websocket'])
    const upgraded = new Promise<void>(resolve => {
      socket.io.once('open', () => socket.io.engine.once('upgrade', () => resolve()))
    })
    await connected(socket)
    await upgraded
    await acknowledged(socket, 'ping')
    mustBe(transportOf(socket), 'websocket')
  }
}

/** Asks one thing of one version. Throws what is wrong. */
export async function ask(question: string, library: ClientLibrary, account: Account): Promise<void> {
  const sockets: Socket[] = []
  const open = (transports: string[], { scope = {}, ...more }: { scope?: object } = {}) => {
    const auth = { token: account.token, clientType: 'user-scoped', ...scope }
    const delays = { reconnectionDelay: 20, reconnectionDelayMax: 50 }
    const socket = library.io(account.url, { path: '/v1/updates', transports, auth, forceNew: true, ...delays, ...more })
    sockets.push(socket)
    return socket
  }
  try {
    const session = await callAs(account, '/v1/sessions', { tag: question, metadata: 'bWV0YQ==' })
    await withDeadline(10_000, async () => questions[question]?.({ library, account, session: session.session.id, open }))
  } finally {
    for (const socket of sockets) socket.disconnect()
  }
}

async function connected(socket: Socket): Promise<Socket> {
  if (!socket.connected) await once(emitter(socket), 'connect')
  return socket
}

function acknowledged(socket: Socket, event: string, ...payload: object[]): Promise<unknown> {
  return new Promise(resolve => {
    socket.emit(event, ...payload, resolve)
  })
}

function transportOf(socket: Socket): string {
  return socket.io.engine.transport.name
}

// Its types know only the events somebody declared.
function emitter(socket: Socket): NodeJS.EventEmitter {
  return socket as never
}

function mustBe(found: unknown, wanted: unknown): void {
  if (found !== wanted) throw new Error(`It is ${found} and should be ${wanted}.`)
}
