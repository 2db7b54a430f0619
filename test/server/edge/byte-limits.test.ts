import t, { type Test } from 'tap'
import { cryptoReady } from '../../../lib/crypto/index.ts'
import { limits } from '../../../lib/server/limits.ts'
import { type ManualClock, manualClock } from '../../kit/manual-clock.ts'
import { type Person, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { openAccepted, openWebSocket, type RawWebSocket } from '../raw-websocket.ts'

const mib = 1024 * 1024

/** A server with its limits on, whose time moves by hand alone. */
async function startLimited(t: Test): Promise<{ url: string; port: number; clock: ManualClock }> {
  const clock = manualClock()
  const server = await startServer(t, { limits: 'default', clock, now: () => 1e12 + clock.now() })
  return { url: server.url, port: server.port, clock }
}

type Ask = () => Promise<number>
interface Case {
  /** Of each of its requests, about. */
  bytes: number
  prepare(ada: Person, server: { url: string }): Promise<Ask>
}

const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
const large = (count: number) => 'x'.repeat(count * mib)

async function uploadPath(ada: Person, size: number): Promise<string> {
  const session = await ada.openSession()
  const { body } = await ada.call('POST', `/v1/sessions/${session}/attachments/request-upload`, { body: { size } })
  return new URL(body.uploadUrl).pathname
}

const put = (server: { url: string }, ada: Person, path: string, bytes: number) =>
  statusOf(
    fetch(server.url + path, { method: 'PUT', headers: { authorization: `Bearer ${ada.token}` }, body: Buffer.alloc(bytes, 1) }).then(
      async answer => {
        await answer.arrayBuffer()
        return answer
      }
    )
  )

const cases: Record<string, Case> = {
  'values that are written': {
    bytes: 15 * mib,
    async prepare(ada) {
      const mutations = [{ key: 'k', value: large(15), version: -1 }]
      return () => statusOf(ada.call('POST', '/v1/kv', { body: { mutations } }))
    }
  },
  'bodies that are refused for what they say': {
    bytes: 15 * mib,
    prepare: async ada => () => statusOf(ada.call('POST', '/v1/sessions', { body: { tag: 'a', metadata: large(15) } }))
  },
  'documents, which are answered with what they are': {
    bytes: 40 * mib,
    async prepare(ada) {
      let count = 0
      return () => {
        count += 1
        const body = { id: crypto.randomUUID(), header: 'h', body: large(20) + count, dataEncryptionKey: 'k' }
        return statusOf(ada.call('POST', '/v1/artifacts', { body }))
      }
    }
  },
  'lists that are read': {
    bytes: 7 * mib,
    async prepare(ada) {
      for (const tag of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
        await ada.call('POST', '/v1/sessions', { body: { tag, metadata: large(1).slice(1) } })
      }
      return () => statusOf(ada.call('GET', '/v1/sessions'))
    }
  },
  'values that stand where another version was expected': {
    bytes: 6 * mib,
    async prepare(ada) {
      const mutations = Array.from({ length: 96 }, (_, key) => ({ key: `${key}`, value: 'x'.repeat(64 * 1024), version: -1 }))
      await ada.call('POST', '/v1/kv', { body: { mutations } })
      const empty = mutations.map(({ key, version }) => ({ key, value: null, version }))
      return () => statusOf(ada.call('POST', '/v1/kv', { body: { mutations: empty } }))
    }
  },
  'attachments sent': {
    bytes: 10 * mib,
    prepare: async (ada, server) => {
      const path = await uploadPath(ada, 10 * mib)
      return () => put(server, ada, path, 10 * mib)
    }
  },
  'attachments read': {
    bytes: 10 * mib,
    prepare: async (ada, server) => {
      const path = await uploadPath(ada, 10 * mib)
      await put(server, ada, path, 10 * mib)
      return () =>
        fetch(server.url + path, { headers: { authorization: `Bearer ${ada.token}` } }).then(async answer => {
          await answer.arrayBuffer()
          return answer.status
        })
    }
  }
}

t.before(() => cryptoReady())

for (const [what, { bytes, prepare }] of Object.entries(cases)) {
  t.test(`${what} count by their bytes, for their account alone and not as its messages [Q1]`, async t => {
    const server = await startLimited(t)
    const [ada, bob] = [await signUp(t, server), await signUp(t, server)]
    const ask = await prepare(ada, server)
    server.clock.advance(60_000)
    let asked = 0
    while ((await ask()) !== 429 && asked < 100) asked += 1
    const most = Math.ceil(limits.otherBytes.burst / bytes)
    t.ok(asked >= most - 1 && asked <= most, `${asked} of ${bytes / mib} MiB each`)
    const session = await bob.openSession()
    t.equal((await bob.send(session, { localId: 'a' })).status, 200)
    t.equal((await ada.call('GET', '/v3/sessions/none/messages')).status, 404, 'messages have their own')
    server.clock.advance(60_000)
    t.not(await ask(), 429)
  })
}

t.test('bodies arriving at the same time are counted before any is complete [Q1]', async t => {
  const server = await startLimited(t)
  const ada = await signUp(t, server)
  const body = JSON.stringify({ tag: 'a', metadata: large(15) })
  const statuses = await Promise.all(Array.from({ length: 12 }, () => statusOf(ada.call('POST', '/v1/sessions', { body }))))
  // Some of those that may be sent find no room while the others arrive.
  t.equal(statuses.filter(status => status !== 429).length, 5, String(statuses))
})

t.test('traffic of all sockets of an account counts together, and a small message still gets through [B5, Q1]', async t => {
  const server = await startLimited(t)
  const [ada, bob] = [await signUp(t, server), await signUp(t, server)]
  const [session, text] = [await ada.openSession(), large(20)]
  const event = (localId: string) => `420["message",${JSON.stringify({ sid: session, localId, message: text })}]`
  // They hear nothing of that session, so that nothing unread is in the way of the close frame.
  const elsewhere = { token: ada.token, clientType: 'session-scoped', sessionId: await ada.openSession() }
  const open = () => openAccepted(t, server, elsewhere)
  await wantLarge(await open())
  const [first, second, quiet] = [await open(), await open(), await open()]
  for (const localId of ['a', 'b', 'c', 'd']) await first.pourText(event(localId))
  // More than comes back while all of it is read.
  for (let count = 0; count < 10; count += 1) await second.pourText(event(`second ${count}`))
  t.equal(await second.ended(), 4029)
  quiet.send('420["ping"]')
  t.ok(await acknowledged(quiet))
  const other = await openAccepted(t, server, { token: bob.token })
  const sid = await bob.openSession()
  other.send(`420["message",${JSON.stringify({ sid, localId: 'a', message: 'x'.repeat(10_000) })}]`)
  t.ok(await acknowledged(other), 'of one account alone')
})

t.test('answers to events count for all sockets of an account together [B5, Q1]', async t => {
  const server = await startLimited(t)
  const [ada, bob] = [await signUp(t, server), await signUp(t, server)]
  const artifactId = crypto.randomUUID()
  const document = { header: 'h', body: large(7), dataEncryptionKey: 'k' }
  for (const person of [ada, bob]) await person.call('POST', '/v1/artifacts', { body: { id: artifactId, ...document } })
  const sid = await ada.openSession()
  const sockets = [await ada.connect(), await ada.connect()]
  const read = (socket = sockets[0]) => socket?.emitWithAck('artifact-read', { artifactId })
  const stale = () => sockets[1]?.emitWithAck('update-state', { sid, agentState: null, expectedVersion: 9 })
  await sockets[0]?.emitWithAck('update-state', { sid, agentState: 'x'.repeat(mib / 2), expectedVersion: 0 })
  let reads = 0
  t.match(await stale(), { result: 'version-mismatch', version: 1 })
  while ((await read()).result === 'success' && reads < 20) reads += 1
  t.equal(reads, 9, 'of 7 MiB each')
  t.match(await stale(), { result: 'error', status: 429 })
  t.same(await sockets[1]?.emitWithAck('ping'), {})
  t.match(await read(await bob.connect()), { result: 'success' }, 'of one account alone')
  server.clock.advance(20_000)
  t.match(await read(), { result: 'success' })
})

t.test('answers made by one commit are each counted before the next is made [B2, B3]', async t => {
  const server = await startLimited(t)
  const ada = await signUp(t, server)
  const artifactId = crypto.randomUUID()
  await ada.call('POST', '/v1/artifacts', { body: { id: artifactId, header: 'h', body: large(7), dataEncryptionKey: 'k' } })
  const sockets = await Promise.all(Array.from({ length: 16 }, () => ada.connect()))
  const stale = { artifactId, body: { data: 'x', expectedVersion: 9 } }
  const answers = await Promise.all(sockets.map(socket => socket.emitWithAck('artifact-update', stale)))
  const count = (wanted: string) => answers.filter(({ result }) => result === wanted).length
  t.same([count('version-mismatch'), count('error')], [10, 6], 'of 7 MiB each, and the others have to wait')
})

t.test('long answers asked for at the same moment are each counted before the next is made [B2, B3]', async t => {
  const server = await startLimited(t)
  const ada = await signUp(t, server)
  const id = crypto.randomUUID()
  await ada.call('POST', '/v1/artifacts', { body: { id, header: 'h', body: large(7), dataEncryptionKey: 'k' } })
  server.clock.advance(20_000)
  const statuses = await Promise.all(Array.from({ length: 16 }, () => ada.call('GET', `/v1/artifacts/${id}`).then(({ status }) => status)))
  const count = (wanted: number) => statuses.filter(status => status === wanted).length
  t.same([count(200), count(429)], [10, 6], 'of 7 MiB each, and the others have to wait')
})

t.test('sockets of an account are counted as they connect, so that reconnecting gives no new rate [B5, Q1]', async t => {
  const server = await startLimited(t)
  const [ada, bob] = [await signUp(t, server), await signUp(t, server)]
  const web = await openWebSocket(t, server)
  await web.next()
  const comeAlive = async () => {
    web.send(`40${JSON.stringify({ token: ada.token })}`)
    return web.next()
  }
  for (let count = 0; count < limits.connects.burst; count += 1) {
    if (!(await comeAlive())?.startsWith('40')) t.fail(`${count} came alive`)
    web.send('41')
  }
  t.equal(await comeAlive(), undefined, 'it is closed, and comes again later')
  await openAccepted(t, server, { token: bob.token })
  server.clock.advance(1_000)
  await openAccepted(t, server, { token: ada.token })
})

/** What is too large for the socket ends it, and those that come after it may send as much. */
async function wantLarge(socket: RawWebSocket): Promise<void> {
  await socket.pourText('x'.repeat(2 * mib))
  await socket.ended()
}

/** Whether what it sent was taken; what it hears besides is passed over. */
async function acknowledged(socket: RawWebSocket): Promise<boolean> {
  for (;;) {
    const text = await socket.next()
    if (text === undefined || text.startsWith('430')) return text !== undefined
  }
}
