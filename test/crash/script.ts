import { cryptoReady, engine } from '../../lib/crypto/index.ts'
import { call, signInBody, type Untyped } from '../kit/person.ts'
import { History } from './history.ts'

/** What a client was promised while it acted, and how to ask another server on the same data for it. */
export interface Promises {
  history: History
  /** How many promises there are, messages among them. */
  count(): number
  /** Which promises besides messages the server at this URL does not keep. */
  brokenOn(url: string): Promise<string[]>
}

type Check = (url: string) => Promise<boolean>

/**
 * One of each kind of write, in an order that never changes, until all are done, the server is gone, or it refuses one
 * because of its disk.
 */
export async function act(url: string): Promise<Promises> {
  await cryptoReady()
  const history = new History()
  const checks: [what: string, check: Check][] = []
  const secret = engine.randomBytes(32)
  let token = ''

  const ask = (at: string, method: string, path: string, body?: object) => call({ url: at }, method, path, { token, ...(body && { body }) })
  const read = async (at: string, path: string): Promise<Untyped> => (await ask(at, 'GET', path)).body
  const write = async (method: string, path: string, body?: object): Promise<Untyped> => {
    const answer = await ask(url, method, path, body)
    if (answer.status === 503 || answer.status === 507) throw new Error('Refused, as it should be with a disk that fails.')
    if (answer.status !== 200) history.complain(`${method} ${path} was answered with ${answer.status}`)
    return answer.body
  }
  const promised = (what: string, check: Check) => checks.push([what, check])

  async function signIn() {
    const body = await signInBody(secret)
    const given = await write('POST', '/v1/auth', body)
    token = given.token
    promised('the token is good', async at => (await ask(at, 'GET', '/v1/account/profile')).status === 200)
    promised('the challenge is spent', async at => (await call({ url: at }, 'POST', '/v1/auth', { body })).status === 401)
  }

  async function openSession(tag: string): Promise<string> {
    const { session } = await write('POST', '/v1/sessions', { tag, metadata: `metadata of ${tag}`, agentState: 'idle' })
    promised(`session ${tag}`, async at => (await read(at, '/v1/sessions')).sessions.some((row: Untyped) => row.id === session.id))
    return session.id
  }

  const reopened = async (at: string, tag: string): Promise<string> =>
    (await ask(at, 'POST', '/v1/sessions', { tag, metadata: 'again' })).body.session.id
  const messagesOf = async (at: string, session: string): Promise<Untyped[]> =>
    (await read(at, `/v3/sessions/${session}/messages`)).messages

  async function send(session: string, writer: string, first: number, sizes: readonly number[]) {
    const messages = sizes.map((size, index) => ({ localId: `${writer}.${first + index}`, content: 'x'.repeat(size) }))
    const body = await write('POST', `/v3/sessions/${session}/messages`, { messages })
    body.messages.forEach(({ seq, localId }: { seq: number; localId: string }, index: number) => {
      history.acknowledged(session, { seq, localId, content: messages[index]?.content ?? '' })
    })
  }

  async function writeSettings(expectedVersion: number) {
    const { version } = await write('POST', '/v1/account/settings', { settings: `settings ${expectedVersion}`, expectedVersion })
    promised(`settings ${version}`, async at => (await read(at, '/v1/account/settings')).settingsVersion >= version)
  }

  const steps = async () => {
    await signIn()
    const session = await openSession('one')
    await send(session, 'a', 0, [10])
    await send(session, 'a', 1, [10, 5_000, 20_000])
    await send(session, 'a', 1, [10, 5_000, 20_000])
    await writeSettings(0)
    const other = await openSession('two')
    await Promise.all([send(session, 'b', 0, [100]), send(other, 'c', 0, [100, 100])])
    await writeSettings(1)
    await write('POST', '/v1/machines', { id: 'laptop', metadata: 'x', daemonState: 'y' })
    promised('machine', async at => (await read(at, '/v1/machines')).length === 1)
    await write('POST', '/v1/push-tokens', { token: 'push' })
    promised('push token', async at => (await read(at, '/v1/push-tokens')).tokens.length === 1)
    const gone = await openSession('three')
    checks.pop()
    // More than one commit removes.
    await write('POST', `/v3/sessions/${gone}/messages`, {
      messages: Array.from({ length: 250 }, (_, row) => ({ localId: `${row}`, content: 'x' }))
    })
    await write('DELETE', `/v1/sessions/${gone}`)
    promised('a removed session', async at => !(await read(at, '/v1/sessions')).sessions.some((row: Untyped) => row.id === gone))
    promised('a removed session as another', async at => (await messagesOf(at, await reopened(at, 'three'))).length === 0)
    await send(session, 'a', 4, [10])
  }
  // That the server goes in the middle, or can store no more, is what this is about.
  await steps().catch(() => {})

  return {
    history,
    count: () => history.answered + checks.length,
    async brokenOn(at) {
      const broken: string[] = []
      for (const [what, check] of checks) if (!(await check(at))) broken.push(`${what}: promised and not kept`)
      return broken
    }
  }
}
