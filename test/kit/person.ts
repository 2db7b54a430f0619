import { io, type Socket } from 'socket.io-client'
import type { Test } from 'tap'
import { cryptoReady, engine, signChallenge, toBase64 } from '../../lib/crypto/index.ts'

/** What came over the wire: the very thing the tests look at has no type yet. */
export type Untyped = ReturnType<typeof JSON.parse>

/** An answer of the server as it came. */
export interface Answer {
  status: number
  body: Untyped
}

export interface CallOptions {
  body?: unknown
  token?: string | undefined
  headers?: Record<string, string>
}

/** A plain HTTP client that knows nothing of the product's own client code. */
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

/** What `POST /v1/auth` wants, with a fresh challenge. */
export async function signInBody(secret: Uint8Array) {
  await cryptoReady()
  const challenge = engine.randomBytes(32)
  const { publicKey, signature } = signChallenge(secret, challenge)
  return { publicKey: toBase64(publicKey), challenge: toBase64(challenge), signature: toBase64(signature) }
}

/** Somebody with an account, who asks with its token and connects sockets. */
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

  /** A connected socket that asks for what is ours; disconnected when the test ends. */
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

/** The next event of this name, or what it carried when `when` holds. Listens all the while: events that come in one packet are heard one right after the other. */
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
