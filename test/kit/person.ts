import { io, type Socket } from 'socket.io-client'
import type { Test } from 'tap'
import { cryptoReady, engine, signChallenge, toBase64 } from '../../lib/crypto/index.ts'

/** Data from the wire: untyped, since it is what the tests check. */
export type Untyped = ReturnType<typeof JSON.parse>

/** A raw answer of the server. */
export interface Answer {
  status: number
  body: Untyped
}

export interface CallOptions {
  body?: unknown
  token?: string | undefined
  headers?: Record<string, string>
}

/** A plain HTTP client, independent of the product's own client code. */
export async function call(
  server: { url: string },
  method: string,
  path: string,
  { body, token, headers }: CallOptions = {}
): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) })
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** The body of `POST /v1/auth`, with a fresh challenge. */
export async function signInBody(secret: Uint8Array) {
  await cryptoReady()
  const challenge = engine.randomBytes(32)
  const { publicKey, signature } = signChallenge(secret, challenge)
  return { publicKey: toBase64(publicKey), challenge: toBase64(challenge), signature: toBase64(signature) }
}

/** A person with an account, who sends requests with its token and connects sockets. */
export class Person {
  readonly secret: Uint8Array
  readonly token: string
  readonly #server: { url: string }
  readonly #t: Pick<Test, 'teardown'>

  constructor(t: Pick<Test, 'teardown'>, server: { url: string }, secret: Uint8Array, token: string) {
    this.#t = t
    this.#server = server
    this.secret = secret
    this.token = token
  }

  get id(): string {
    return JSON.parse(atob(this.token.split('.')[1] ?? '')).sub
  }

  call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    return call(this.#server, method, path, { token: this.token, ...options })
  }

  /** Opens a session and returns its id. */
  async openSession(tag: string = crypto.randomUUID()): Promise<string> {
    const { body } = await this.call('POST', '/v1/sessions', { body: { tag, metadata: 'bWV0YQ==' } })
    return body.session.id
  }

  send(session: string, ...drafts: { localId: string; content?: string }[]): Promise<Answer> {
    const messages = drafts.map(({ localId, content = 'aGk=' }) => ({ localId, content }))
    return this.call('POST', `/v3/sessions/${session}/messages`, { body: { messages } })
  }

  /** A connected socket that requests our extensions; disconnected when the test ends. */
  async connect(auth: Record<string, unknown> = {}, server = this.#server, transports = ['websocket']): Promise<Socket> {
    const socket = io(server.url, {
      path: '/v1/updates',
      transports,
      auth: { token: this.token, clientType: 'user-scoped', signals: true, ...auth },
      forceNew: true,
      reconnection: false
    })
    this.#t.teardown(() => socket.disconnect())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    socket.once('connect', resolve).once('connect_error', reject)
    await promise
    return socket
  }
}

/** Signs up with a new secret, or in with a known one. */
export async function signUp(t: Pick<Test, 'teardown'>, server: { url: string }, secret?: Uint8Array): Promise<Person> {
  await cryptoReady()
  const own = secret ?? engine.randomBytes(32)
  const { status, body } = await call(server, 'POST', '/v1/auth', { body: await signInBody(own) })
  if (status !== 200) throw new Error(`Signing up was answered with ${status} ${JSON.stringify(body)}`)
  return new Person(t, server, own, body.token)
}

/** The next event of this name, or the payload of the first for which `when` holds. Listens continuously: events of one packet arrive one right after the other. */
export function next(socket: Socket, event: string, when: (body: Untyped) => boolean = () => true): Promise<Untyped> {
  return new Promise(resolve => {
    const hear = (body: Untyped) => {
      if (!when(body)) return
      socket.off(event, hear)
      resolve(body)
    }
    socket.on(event, hear)
  })
}
