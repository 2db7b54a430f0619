import { Client as Connection } from 'undici'
import type { Random } from '../crash/random.ts'
import type { Untyped } from '../kit/person.ts'
import type { Fleet } from './fleet.ts'
import type { History, Kind, ShownMessage } from './history.ts'
import { Socket } from './socket.ts'

/** A request that takes longer has ended as nobody knows. */
const patienceMs = 15_000

/** What all clients share. */
export interface World {
  fleet: Fleet
  history: History
  random: Random
}

interface Request {
  kind: Kind
  /** What the operation is about, for the account of what happened. */
  about: string
  body?: object
}

/** A client of an account. It stays at an instance until that fails, or until it feels like it, and goes on at another. */
export class Client {
  readonly world: World
  readonly token: string
  #url: string
  #connection: Connection
  /** How many disturbances there had been when it was last answered here. */
  #answeredAfter: number | undefined

  constructor(world: World, token: string) {
    this.world = world
    this.token = token
    this.#url = world.fleet.pick()
    this.#connection = connectionTo(this.#url)
  }

  /** Where it is. */
  get url(): string {
    return this.#url
  }

  hop(): void {
    void this.#connection.destroy()
    this.#answeredAfter = undefined
    this.#url = this.world.fleet.pick(this.#url)
    this.#connection = connectionTo(this.#url)
  }

  /** Ends it. */
  leave(): void {
    void this.#connection.destroy()
  }

  /**
   * Undefined if it is not known whether this was done; that too is a complaint, if nothing is out of order but the bus since it
   * was answered. Every other answer than success is one.
   */
  async ask(method: 'GET' | 'POST', path: string, { kind, about, body }: Request): Promise<Untyped> {
    const { history, random } = this.world
    if (random.chance(0.02)) this.hop()
    const url = this.#url
    const answer = await this.#request(method, path, body)
    history.ended({ kind, about, at: url }, answer === undefined ? 'maybe' : 'ok')
    const isWhole = history.isWhole && this.#answeredAfter === history.disturbances
    this.#answeredAfter = history.disturbances
    if (answer === undefined && isWhole) history.complain(`${method} ${path} had no answer, and only the bus was out of order`, about)
    if (answer === undefined) this.hop()
    else if (answer.status === 200) return answer.body
    else history.complain(`${method} ${path} was answered with ${answer.status} ${JSON.stringify(answer.body)}`, about)
    return undefined
  }

  /** A connected socket at another instance than before, or undefined if that is out of order. */
  async connect(session?: string): Promise<Socket | undefined> {
    this.hop()
    const socket = await Socket.connect(this.#url, { token: this.token, session, patienceMs })
    if (socket) this.world.history.connections += 1
    return socket
  }

  /** A page after a number, judged. Undefined if there was no answer. */
  async readPage(
    session: string,
    cursor: number,
    { limit, how = 'read' }: { limit: number; how?: string }
  ): Promise<{ messages: ShownMessage[]; more: boolean } | undefined> {
    const history = this.world.history.session(session)
    const known = history.highest
    const path = `/v3/sessions/${session}/messages?after_seq=${cursor}&limit=${limit}`
    const page = await this.ask('GET', path, { kind: 'page read', about: session })
    if (page === undefined) return undefined
    const messages = page.messages.map(messageFrom)
    history.page(messages, { cursor, more: page.hasMore, known, how, at: this.#url })
    return { messages, more: page.hasMore }
  }

  async readSettings(account: string): Promise<{ version: number; value: string | null } | undefined> {
    const answer = await this.ask('GET', '/v1/account/settings', { kind: 'settings read', about: account })
    return answer && { version: answer.settingsVersion, value: answer.settings }
  }

  async #request(method: 'GET' | 'POST', path: string, body: object | undefined): Promise<{ status: number; body: Untyped } | undefined> {
    try {
      const headers = { authorization: `Bearer ${this.token}`, ...(body && { 'content-type': 'application/json' }) }
      const response = await this.#connection.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) })
      const text = await response.body.text()
      const status = response.statusCode
      return status === 503 ? undefined : { status, body: text === '' ? undefined : JSON.parse(text) }
    } catch {
      return undefined
    }
  }
}

/** Kept open for one request after another, as a browser does; `fetch` costs several times as much processor time. */
function connectionTo(url: string): Connection {
  return new Connection(url, { headersTimeout: patienceMs, bodyTimeout: patienceMs, connectTimeout: patienceMs })
}

export function messageFrom({ seq, localId, content }: Untyped): ShownMessage {
  return { seq, localId, content: content.c }
}
