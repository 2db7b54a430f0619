import { io, type Socket } from 'socket.io-client'
import type { Random } from '../crash/random.ts'
import type { Untyped } from '../kit/person.ts'
import type { Fleet } from './fleet.ts'
import type { History, ShownMessage } from './history.ts'

/** A request that takes longer has ended as nobody knows. */
const patienceMs = 15_000

/** What all clients share. */
export interface World {
  fleet: Fleet
  history: History
  random: Random
}

/** A client of an account. It stays at an instance until that fails, or until it feels like it, and goes on at another. */
export class Client {
  readonly world: World
  readonly token: string
  #url: string

  constructor(world: World, token: string) {
    this.world = world
    this.token = token
    this.#url = world.fleet.pick()
  }

  hop(): void {
    this.#url = this.world.fleet.pick(this.#url)
  }

  /** Undefined if it is not known whether this was done. Every other answer than success is a complaint. */
  async ask(method: string, path: string, body?: object): Promise<Untyped> {
    const { history, random } = this.world
    if (random.chance(0.02)) this.hop()
    const answer = await request(this.#url + path, { method, token: this.token, body })
    history.ended(answer === undefined ? 'maybe' : 'ok')
    if (answer === undefined) this.hop()
    else if (answer.status === 200) return answer.body
    else history.complain(`${method} ${path} was answered with ${answer.status} ${JSON.stringify(answer.body)}`)
    return undefined
  }

  /** A connected socket at another instance than before, or undefined if that is out of order. */
  async connect(): Promise<Socket | undefined> {
    this.hop()
    const socket = io(this.#url, {
      path: '/v1/updates',
      transports: ['websocket'],
      auth: { token: this.token },
      forceNew: true,
      reconnection: false,
      timeout: patienceMs
    })
    const isConnected = await new Promise<boolean>(resolve => {
      socket.once('connect', () => resolve(true))
      for (const end of ['connect_error', 'disconnect']) socket.once(end, () => resolve(false))
    })
    if (isConnected) this.world.history.connections += 1
    else socket.disconnect()
    return isConnected ? socket : undefined
  }

  /** A page after a number, judged. Undefined if there was no answer. */
  async readPage(session: string, cursor: number, limit: number): Promise<{ messages: ShownMessage[]; more: boolean } | undefined> {
    const history = this.world.history.session(session)
    const known = history.highest
    const page = await this.ask('GET', `/v3/sessions/${session}/messages?after_seq=${cursor}&limit=${limit}`)
    if (page === undefined) return undefined
    const messages = page.messages.map(messageFrom)
    history.page(messages, { cursor, more: page.hasMore, known })
    return { messages, more: page.hasMore }
  }

  async readSettings(): Promise<{ version: number; value: string | null } | undefined> {
    const answer = await this.ask('GET', '/v1/account/settings')
    return answer && { version: answer.settingsVersion, value: answer.settings }
  }
}

export function messageFrom({ seq, localId, content }: Untyped): ShownMessage {
  return { seq, localId, content: content.c }
}

async function request(
  url: string,
  { method, token, body }: { method: string; token: string; body: object | undefined }
): Promise<{ status: number; body: Untyped } | undefined> {
  try {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs)
    })
    const text = await response.text()
    return response.status === 503 ? undefined : { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  } catch {
    return undefined
  }
}
