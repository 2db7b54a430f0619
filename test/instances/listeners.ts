import { setTimeout as pause } from 'node:timers/promises'
import type { Untyped } from '../kit/person.ts'
import { Client, messageFrom, type World } from './client.ts'
import type { Socket } from './socket.ts'
import { beforeAgainMs } from './workers.ts'

let numbered = 1

/**
 * An app: connects, reads what it has not seen, and from then on relies on what it is sent. When its connection is closed it
 * connects to another instance. It runs until the end, also while nobody works.
 */
export class Listener {
  readonly #client: Client
  readonly #world: World
  readonly #account: string
  readonly #sessions: readonly string[]
  /** Of each session, to where it has seen everything: by pages, then live. */
  readonly #seen = new Map<string, number>()
  /** The sessions that it has read since it is connected, and since when it has all up to where it is. */
  readonly #read = new Map<string, number>()
  /** The numbers that came live over this connection first and last. */
  readonly #live = new Map<string, { first: number; last: number }>()
  #settingsVersion: number | undefined
  #socket: Socket | undefined
  readonly #number: number
  /** In the account of a complaint. */
  #name = ''

  constructor(world: World, { token, account, sessions }: { token: string; account: string; sessions: readonly string[] }) {
    this.#client = new Client(world, token)
    this.#world = world
    this.#account = account
    this.#sessions = sessions
    this.#number = numbered++
  }

  async run(until: AbortSignal): Promise<void> {
    until.addEventListener('abort', () => this.#socket?.disconnect())
    while (!until.aborted) {
      this.#forget()
      const socket = await this.#client.connect()
      this.#socket = socket
      if (socket) this.#arrive()
      if (socket && !until.aborted) await this.#follow(socket)
      socket?.disconnect()
      if (!until.aborted) await pause(beforeAgainMs)
    }
  }

  /** What it has not been told although it is there, in sentences; none once it has all. */
  missing(): { session: string; sentence: string }[] {
    return this.#sessions.flatMap(session => {
      const { highest } = this.#world.history.session(session)
      if (this.#seen.get(session) === highest && this.#read.has(session)) return []
      const state = this.#socket?.isConnected ? 'a connection that stays open' : 'a client that cannot connect'
      return [{ session, sentence: `session ${session}: ${state} was not told more than ${this.#seen.get(session) ?? 0} of ${highest}` }]
    })
  }

  /** Complains if it is connected and was not told in time what others know. */
  judge(): void {
    if (!this.#socket?.isConnected) return
    const { history } = this.#world
    for (const [session, sinceMs] of this.#read) {
      const seen = this.#seen.get(session) ?? 0
      // Not again at the next look.
      if (!history.isInTime(session, { seen, sinceMs, at: this.#name })) this.#read.set(session, history.nowMs)
    }
  }

  #arrive(): void {
    this.#name = `${this.#number} at ${this.#client.url}`
    this.#world.history.note({ about: '', what: 'an app is connected', at: this.#name })
  }

  #forget(): void {
    this.#read.clear()
    this.#live.clear()
    this.#settingsVersion = undefined
  }

  async #follow(socket: Socket): Promise<void> {
    socket.onUpdate = update => this.#hear(update.body)
    for (const session of this.#sessions) {
      if (await this.#catchUp(session, socket)) continue
      socket.disconnect()
      return
    }
    await socket.closed
  }

  async #catchUp(session: string, socket: Socket): Promise<boolean> {
    let cursor = this.#seen.get(session) ?? 0
    for (let more = true; more; ) {
      const page = await this.#client.readPage(session, cursor, { limit: 500 })
      if (!page || !socket.isConnected) return false
      cursor += page.messages.length
      more = page.more
    }
    const live = this.#live.get(session)
    this.#read.set(session, this.#world.history.nowMs)
    this.#seen.set(session, live && live.first <= cursor + 1 ? Math.max(cursor, live.last) : cursor)
    return true
  }

  #hear(body: Untyped): void {
    const { history } = this.#world
    history.seenLive += 1
    if (body.t === 'update-account' && body.settings) {
      history.settingsOf(this.#account).live(body.settings, this.#settingsVersion)
      this.#settingsVersion = body.settings.version
    }
    if (body.t === 'new-message') this.#hearMessage(body.sid, messageFrom(body.message))
  }

  #hearMessage(session: string, message: ReturnType<typeof messageFrom>): void {
    const live = this.#live.get(session)
    const { seq } = message
    this.#world.history.session(session).live(message, live?.last, this.#name)
    this.#live.set(session, { first: live?.first ?? seq, last: seq })
    if (!this.#read.has(session)) return
    const seen = this.#seen.get(session) ?? 0
    // After a gap it has not seen everything. If the server closes the connection it reads the rest, and else it never has it.
    if (seq !== seen + 1) return
    this.#seen.set(session, seq)
    this.#read.set(session, this.#world.history.nowMs)
  }
}
