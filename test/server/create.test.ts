import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createServer, StoreBusy } from '../../lib/index.ts'
import { openStore } from '../../lib/store/open.ts'
import { readDisk } from '../crash/disk.ts'
import { manualClock } from '../kit/manual-clock.ts'
import { call, signInBody, signUp, type Untyped } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { openTcp } from './raw-http.ts'
import { openAccepted } from './raw-websocket.ts'

t.test('a server binds a free port and reports its address', async t => {
  const server = await startServer(t)
  t.ok(server.port > 0)
  t.equal(server.url, `http://127.0.0.1:${server.port}`)
})

t.test('two servers run in one process, each with its own accounts', async t => {
  const dir = t.testdir({ one: {}, two: {} })
  const [one, two] = [await startServer(t, { data: join(dir, 'one') }), await startServer(t, { data: join(dir, 'two') })]
  const ada = await signUp(t, one)
  t.equal((await call(two, 'GET', '/v1/sessions', { token: ada.token })).status, 401)
})

t.test('a store that is lost during the start ends it with one sentence, and the next start may succeed', async t => {
  const data = t.testdir()
  const store = await openStore('sqlite:afield.db', { dataDirectory: data, onBroken() {} })
  t.teardown(() => store.close())
  const time = () => Promise.reject(new StoreBusy('The database cannot be reached.'))
  await t.rejects(startServer(t, { data, store: { ...store, time } }), {
    name: 'CannotStart',
    exitCode: 75,
    message: 'The database was lost while the server started; start again soon.'
  })
})

t.test('closing tells connections why, frees the port and the directory, and may be called twice [L1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  const closing = [server.close(), server.close()]
  t.equal(await web.ended(), 1012)
  await Promise.all(closing)
  t.notOk(existsSync(join(server.data, 'afield.db-wal')), 'the log is in the file')
  await t.rejects(fetch(`${server.url}/health`))
  const again = await startServer(t, { data: server.data })
  t.equal((await call(again, 'GET', '/v1/sessions', { token: ada.token })).status, 200)
})

t.test('a second call to close waits for the first', async t => {
  const server = await startServer(t)
  void server.close()
  await server.close()
  const again = await startServer(t, { data: server.data })
  t.ok(again.url)
})

t.test('closing under load: answered writes are stored, and the others completely or not at all [L1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  const answered: string[] = []
  let isClosing = false
  const writers = Array.from({ length: 6 }, async (_, writer) => {
    for (let round = 0; !isClosing || round < 10; round += 1) {
      const drafts = [0, 1, 2].map(at => ({ localId: `${writer}-${round}-${at}` }))
      const outcome = await ada.send(session, ...drafts).catch(() => undefined)
      if (outcome === undefined) return
      if (outcome.status !== 200) {
        t.equal(outcome.status, 503)
        return
      }
      answered.push(...outcome.body.messages.map((message: Untyped) => message.localId))
    }
  })
  for (let number = 0; number < 50; number += 1) socket.emit('message', { sid: session, message: 'x', localId: `socket-${number}` })
  while (answered.length < 30) await ada.call('GET', '/v1/sessions')
  isClosing = true
  await server.close()
  await Promise.all(writers)

  const { flaws, sessions } = readDisk(server.data)
  t.same(flaws, [])
  const stored = new Set(sessions[0]?.messages.map(({ localId }) => localId))
  for (const localId of answered) if (!stored.has(localId)) t.fail(`${localId} was answered and is lost`)
  const perBatch = Object.values(
    Object.groupBy(
      [...stored].filter(name => !name?.startsWith('socket')),
      name => name?.replace(/-\d$/, '') ?? ''
    )
  )
  for (const batch of perBatch) t.equal(batch?.length, 3)
})

t.test('a request in progress when the server closes is still answered, and health says no', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const connections = await Promise.all(Array.from({ length: 3 }, () => openTcp(t, server)))
  for (const socket of connections) {
    // Its connection is open before the server stops listening.
    socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await new Promise(resolve => socket.once('data', resolve))
  }
  const sending = Promise.all(Array.from({ length: 20 }, (_, number) => ada.send(session, { localId: `${number}` })))
  const [asked] = connections
  const answer = new Promise<string>(resolve => asked?.once('data', bytes => resolve(String(bytes))))
  await ada.call('GET', '/v1/sessions')
  const closed = server.close()
  asked?.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  t.match(await Promise.race([answer, closed.then(() => 'closed')]), /^(HTTP\/1\.1 503|closed)/)
  for (const { status } of await sending) t.equal(status, 200)
  await closed
})

t.test('invalid options are rejected in one sentence', async t => {
  const data = t.testdir()
  const table: [options: object, reason: RegExp][] = [
    [{ port: 70_000 }, /^port must be a whole number from 0 to 65535\.$/],
    [{ signup: 'everybody' }, /^signup must be one of owner, /],
    [{ prot: 1 }, /^There is no option prot\.$/],
    [{ host: '0.0.0.0' }, /needs HTTPS/],
    [{ tlsCert: 'x' }, /must be given together/],
    [{ store: 'mysql://ada:secret@host' }, /no "mysql" store/],
    [{ bus: 'nats://ada:secret@host' }, /--bus nats:… is not known/]
  ]
  for (const [options, reason] of table) {
    const refusal: unknown = await createServer({ data, port: 0, ...options }).catch(error => error)
    t.match(refusal, { name: 'CannotStart', message: reason, exitCode: 78 })
    t.notMatch(refusal, { message: /secret/ })
  }
  const server = await startServer(t, { data })
  t.ok(server.url, 'and nothing of them is left in the way')
})

t.test('an injected clock is the only time the server uses', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock, now: () => 42 })
  const ada = await signUp(t, server)
  t.equal((await ada.call('GET', '/v1/account/profile')).body.timestamp, 42)
  await server.close()
  t.equal(clock.pending, 0, 'and no timer outlives it')
})

t.test('anyone can ask how commands are typed on the server, and whether it has or accepts accounts', async t => {
  const server = await startServer(t, { signup: 'owner' })
  t.match((await call(server, 'GET', '/health')).body, { program: 'node build.mjs start', needsSetupCode: true, acceptsAccounts: true })
  const body = { ...(await signInBody(new Uint8Array(32).fill(1))), setupCode: server.setupCode?.code }
  t.equal((await call(server, 'POST', '/v1/auth', { body })).status, 200)
  t.match((await call(server, 'GET', '/health')).body, { needsSetupCode: false, acceptsAccounts: false })
  const inviting = await startServer(t, { signup: 'invite' })
  t.match((await call(inviting, 'GET', '/health')).body, { acceptsAccounts: true })
  const closed = await startServer(t, { signup: 'closed' })
  t.match((await call(closed, 'GET', '/health')).body, { acceptsAccounts: false })
})
