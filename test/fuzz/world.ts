import { engine } from '../../lib/crypto/index.ts'
import type { Random } from '../crash/random.ts'
import { call, signInBody, type Untyped } from '../kit/person.ts'
import type { Known } from './values.ts'

const mostToLearnFrom = 10_000

/** Who attacks: several accounts that have something, and the ids of all of it, so that handlers are reached. */
export class World {
  readonly random: Random
  /** False when somebody has to sign in anew. */
  isWhole = false
  readonly #server: { url: string }
  readonly #secrets = [1, 2, 3].map(() => engine.randomBytes(32))
  #tokens: readonly string[] = []
  readonly #ids = new Map<string, string[]>()

  constructor(server: { url: string }, random: Random) {
    this.#server = server
    this.random = random
  }

  /** Signs everybody in anew, and sees to it that there is something to attack: attacks take away both. */
  async refill(): Promise<void> {
    const tokens: string[] = []
    for (const index of this.#secrets.keys()) {
      const token = await this.#signIn(index)
      const ask = (path: string, body: object) => call(this.#server, 'POST', path, { token, body })
      tokens.push(token)
      this.#learn('token', JSON.parse(atob(token.split('.')[1] ?? '')).tid)
      const { session } = (await ask('/v1/sessions', { tag: `tag ${this.random.between(0, 9)}`, metadata: 'bWV0YQ==' })).body
      this.#learn('session', session.id)
      await ask('/v1/machines', { id: 'laptop', metadata: 'bWV0YQ==' })
      const artifact = crypto.randomUUID()
      await ask('/v1/artifacts', { id: artifact, header: 'h', body: 'b', dataEncryptionKey: 'k' })
      this.#learn('artifact', artifact)
      await ask('/v1/push-tokens', { token: 'ExponentPushToken[fuzz]' })
    }
    this.#tokens = tokens
    this.isWhole = true
  }

  /** The token of one of the accounts. */
  readonly token = (): string => this.random.pick(this.#tokens)

  /** The server no longer takes it. */
  lost(token: string): void {
    if (this.#tokens.includes(token)) this.isWhole = false
  }

  /** Takes ids out of whatever the server answered. */
  learnFrom(text: string): void {
    if (text.length > mostToLearnFrom) return
    const body: Untyped = parsed(text)
    for (const kind of ['session', 'artifact', 'machine', 'device', 'invite', 'attachment'] as const) {
      const id: unknown = body?.[kind]?.id
      if (typeof id === 'string') this.#learn(kind, id)
    }
  }

  readonly known: Known = field => {
    const { random } = this
    if (/^(sid|session|sessionId)$/.test(field)) return this.#of('session')
    if (/^machine(Id)?$/.test(field)) return ['laptop', 'other']
    if (/^artifact(Id)?$/.test(field)) return this.#of('artifact')
    if (field === 'id')
      return [...this.#of('session'), ...this.#of('artifact'), ...this.#of('token'), ...this.#of('device'), 'laptop', 'current']
    if (field === 'token') return ['ExponentPushToken[fuzz]', 'https://example.invalid/push']
    if (/^(key|prefix)$/.test(field)) return ['a', 'b', 'k.1']
    if (field === 'localId') return [`local ${random.between(0, 50)}`]
    if (field === 'cursor') return this.#of('session').map(id => `cursor_v1_${id}`)
    if (field === 'method') return [...this.#of('session'), 'laptop'].map(id => `${id}:${random.pick(['abort', 'bash', 'x'])}`)
    if (/^(publicKey|challenge|signature)$/.test(field)) return [Buffer.alloc(random.pick([16, 32, 64]), 1).toString('base64')]
    if (field === 'state') return ['active', 'background']
    return []
  }

  // An attack may have removed the account or shut its door: then somebody else comes in.
  async #signIn(index: number): Promise<string> {
    const secret = this.#secrets[index] ?? engine.randomBytes(32)
    const { status, body } = await call(this.#server, 'POST', '/v1/auth', { body: await signInBody(secret) })
    if (status === 200) return body.token
    if (status >= 500) throw new Error(`Signing in was answered with ${status}.`)
    this.#secrets[index] = engine.randomBytes(32)
    return this.#signIn(index)
  }

  #of(kind: string): string[] {
    return this.#ids.get(kind) ?? []
  }

  #learn(kind: string, id: string): void {
    const ids = this.#ids.get(kind) ?? []
    this.#ids.set(kind, [id, ...ids].slice(0, 20))
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
