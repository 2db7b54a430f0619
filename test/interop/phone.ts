import { EventEmitter, once } from 'node:events'
import { io, type Socket } from 'socket.io-client'
import { pause } from '../../lib/async/pause.ts'
import {
  type Cipher,
  cryptoReady,
  deriveContentKeypair,
  engine,
  readPairingLink,
  sealAnswerV1,
  sealAnswerV2,
  toBase64
} from '../../lib/crypto/index.ts'
import { listedMachine, listedSession, messageRecord } from '../../lib/protocol/wire/records.ts'
import * as v from '../../lib/schema.ts'
import { call, signInBody } from '../kit/person.ts'
import { Memory, open, type PhoneMachine, type PhoneSession, type Said } from './memory.ts'

const callAck = v.union([v.object({ ok: v.literal(true), result: v.string() }), v.object({ ok: v.literal(false), error: v.string() })])

/**
 * An app reduced to the wire: it holds the account secret, hears everything and opens all of it. It shares the crypto and the
 * schemas with the product, so that what foreign clients write must fit both, but none of the product's client code.
 */
export class Phone {
  readonly #memory: Memory
  readonly #url: string
  readonly #secret: Uint8Array
  readonly #token: string
  readonly #changes = new EventEmitter().setMaxListeners(0)
  #socket: Socket | undefined
  /** What could not be read or opened, thrown to whoever waits. */
  #problem: unknown

  private constructor(url: string, secret: Uint8Array, token: string) {
    this.#url = url
    this.#secret = secret
    this.#token = token
    this.#memory = new Memory(secret)
  }

  static async signIn(url: string, secret?: Uint8Array): Promise<Phone> {
    await cryptoReady()
    const own = secret ?? engine.randomBytes(32)
    const { status, body } = await call({ url }, 'POST', '/v1/auth', { body: await signInBody(own) })
    if (status !== 200) throw new Error(`Signing in was answered with ${status}.`)
    return new Phone(url, own, body.token)
  }

  /** The same account on a phone that has seen nothing yet. */
  async another(): Promise<Phone> {
    return Phone.signIn(this.#url, this.#secret)
  }

  /** What a terminal must have got by the answer, in base64: the account secret itself in the first form, the content key in the second. */
  handedOver(form: 1 | 2): string {
    return toBase64(form === 1 ? this.#secret : deriveContentKeypair(this.#secret).publicKey)
  }

  /** Hears of everything from now on, and comes back by itself after a cut. */
  async connect(): Promise<void> {
    const socket = io(this.#url, {
      path: '/v1/updates',
      transports: ['websocket'],
      auth: { token: this.#token, clientType: 'user-scoped', appState: 'active' },
      reconnectionDelay: 100,
      reconnectionDelayMax: 300
    })
    this.#socket = socket
    socket.on('update', frame => this.#take(() => this.#memory.hearUpdate(frame)))
    socket.on('ephemeral', frame => this.#take(() => this.#memory.hearEphemeral(frame)))
    const connected = Promise.withResolvers<void>()
    socket.once('connect', connected.resolve).once('connect_error', connected.reject)
    await connected.promise
    socket.on('disconnect', () => {
      this.#memory.isCatchingUp = true
    })
    socket.on('connect', () => this.#catchUp().then(() => this.#changes.emit('caught-up')))
  }

  disconnect(): void {
    this.#socket?.disconnect()
  }

  /** Resolves when the phone is back after the next cut, and has read what it missed. */
  async reconnected(): Promise<void> {
    await once(this.#changes, 'caught-up')
  }

  /** Nobody looks at the app while the work goes on; then it is opened again and reads what it missed. */
  async whileAway(work: () => Promise<void>): Promise<void> {
    this.#socket?.disconnect()
    await work()
    const back = this.reconnected()
    this.#socket?.connect()
    await back
  }

  /** Where the account is notified. */
  async register(pushToken: string): Promise<void> {
    await this.#ask('POST', '/v1/push-tokens', { token: pushToken })
  }

  /** What a person does with the link a terminal shows: look whether it still waits, and say yes in one of the two forms of an answer. */
  async approve(link: string, form: 1 | 2): Promise<void> {
    const pairing = readPairingLink(link)
    if (!pairing) throw new Error(`Not a link to pair: ${link}`)
    const publicKey = toBase64(pairing.publicKey)
    const { status, supportsV2 } = await this.#ask('GET', `/v1/auth/request/status?publicKey=${encodeURIComponent(publicKey)}`)
    if (status !== 'pending' || !supportsV2) throw new Error(`The request is ${status}, the second form ${supportsV2}.`)
    const { publicKey: contentKey } = deriveContentKeypair(this.#secret)
    const answer = form === 1 ? sealAnswerV1(this.#secret, pairing.publicKey) : sealAnswerV2(contentKey, pairing.publicKey)
    await this.#ask('POST', '/v1/auth/response', { publicKey, response: toBase64(answer) })
  }

  /** Reads the lists, as an app does when it opens. */
  async load(): Promise<void> {
    const { sessions } = v.parse(v.object({ sessions: v.array(listedSession) }), await this.#ask('GET', '/v1/sessions'))
    for (const session of sessions) this.#memory.keepSession(session)
    const machines = v.parse(v.array(listedMachine), await this.#ask('GET', '/v1/machines'))
    for (const machine of machines) this.#memory.keepMachine(machine)
  }

  /** Every message of a session from its first one, page by page. */
  async read(id: string): Promise<Said[]> {
    const said: Said[] = []
    for (;;) {
      const reply = await this.#ask('GET', `/v3/sessions/${id}/messages?after_seq=${said.at(-1)?.seq ?? 0}&limit=7`)
      const { messages, hasMore } = v.parse(v.object({ messages: v.array(messageRecord), hasMore: v.boolean() }), reply)
      said.push(...messages.map(message => this.#memory.openMessage(id, message)))
      if (!hasMore) return said
    }
  }

  async send(id: string, text: string): Promise<void> {
    const body = { role: 'user', content: { type: 'text', text }, meta: { sentFrom: 'web' } }
    const messages = [{ localId: crypto.randomUUID(), content: this.#memory.session(id).cipher.seal(body) }]
    await this.#ask('POST', `/v3/sessions/${id}/messages`, { messages })
  }

  /** Calls a method of a session or a machine; null when it answered with nothing. */
  async call(callee: { id: string; cipher: Cipher }, method: string, params: unknown): Promise<unknown> {
    const request = { method: `${callee.id}:${method}`, params: callee.cipher.seal(params) }
    const answer = v.parse(callAck, await this.#socket?.emitWithAck('rpc-call', request))
    if (!answer.ok) throw new Error(`${method}: ${answer.error}`)
    return open(callee.cipher, answer.result, v.unknown())
  }

  get sessions(): PhoneSession[] {
    return [...this.#memory.sessions.values()]
  }

  get machines(): PhoneMachine[] {
    return [...this.#memory.machines.values()]
  }

  /** The first answer of `look` that is neither undefined nor false, asked again whenever something arrived. */
  async until<T>(look: () => T | undefined | false): Promise<T> {
    for (;;) {
      const found = look()
      if (found !== undefined && found !== false) return found
      if (this.#problem) throw this.#problem
      await once(this.#changes, 'change')
    }
  }

  async #catchUp(): Promise<void> {
    await this.load()
    for (const session of this.sessions) {
      for (const said of await this.read(session.id)) this.#memory.keepMessage(session.id, said)
    }
    this.#memory.isCatchingUp = false
    this.#changes.emit('change')
  }

  #take(read: () => void): void {
    try {
      read()
    } catch (error) {
      this.#problem ??= error
    }
    this.#changes.emit('change')
  }

  /** Asks again, as apps do, while there is no server or only a proxy without one. */
  async #ask(method: string, path: string, body?: unknown) {
    for (;;) {
      const answer = await call({ url: this.#url }, method, path, { token: this.#token, body }).catch(() => undefined)
      if (answer?.status === 200) return answer.body
      if (answer && answer.status < 502) {
        throw new Error(`${method} ${path} was answered with ${answer.status} ${JSON.stringify(answer.body)}`)
      }
      await pause(100)
    }
  }
}
