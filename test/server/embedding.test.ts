import { once } from 'node:events'
import t, { type Test } from 'tap'
import { type AuditEvent, createServer, loadUws, openBus, openStore, type ServerEvent, type ServerSetup } from '../../lib/index.ts'
import { manualClock } from '../kit/manual-clock.ts'
import { call, signInBody, signUp } from '../kit/person.ts'
import { openAccepted, openWebSocket } from './raw-websocket.ts'

/** A server on an app that the test shares with it, and listens and closes itself. */
async function startShared(t: Test, setup: ServerSetup = {}) {
  const uws = loadUws()
  const app = uws.App()
  app.get('/own', response => void response.end('mine'))
  const server = await createServer({ app, data: t.testdir(), signup: 'open', logLevel: 'silent', limits: 'off', ...setup })
  const listening = await new Promise<false | { port: number }>(resolve => {
    app.listen('127.0.0.1', 0, socket => resolve(socket && { port: uws.us_socket_local_port(socket) }))
  })
  t.teardown(async () => {
    await server.close()
    app.close()
  })
  if (!listening) throw new Error('The shared app does not listen.')
  return { server, port: listening.port, url: `http://127.0.0.1:${listening.port}` }
}

t.test('on a shared app the server has its routes and sockets, and the owner keeps the others', async t => {
  const { url } = await startShared(t)
  t.equal(await (await fetch(`${url}/own`)).text(), 'mine')
  const ada = await signUp(t, { url })
  const [app, session] = [await ada.connect(), await ada.openSession()]
  const heard = once(app as never, 'update')
  await ada.send(session, { localId: 'one' })
  t.match(await heard, [{ body: { t: 'new-message', sid: session } }])
})

t.test('a server on a shared app reports its address from its options', async t => {
  const { server } = await startShared(t, { publicUrl: 'https://home.example' })
  t.equal(server.url, 'https://home.example')
})

t.test('closing leaves nothing behind on a shared app: no connection, no timer, and its routes answer 503', async t => {
  const clock = manualClock()
  const { server, url, port } = await startShared(t, { clock })
  const ada = await signUp(t, { url })
  const accepted = await openAccepted(t, { port }, { token: ada.token })
  const unknown = await openWebSocket(t, { port })
  await unknown.next()
  await server.close()

  t.same([await accepted.ended(), await unknown.ended()], [1012, 1012])
  t.equal(clock.pending, 0)
  for (const path of ['/health', '/v1/sessions', '/v1/updates/?EIO=4&transport=polling', '/']) {
    const { status, headers } = await fetch(url + path)
    t.same([status, headers.get('retry-after')], [503, '5'], path)
  }
  t.equal((await fetch(`${url}/own`)).status, 200)
  await t.rejects(openWebSocket(t, { port }), /503/)
})

t.test('an injected store and bus are used, and not closed', async t => {
  const [data, errors] = [t.testdir(), [] as unknown[]]
  const store = await openStore('sqlite:own.db', { dataDirectory: data, onBroken: reason => errors.push(reason) })
  const bus = await openBus('local', { onError: error => errors.push(error) })
  t.teardown(async () => {
    await bus.close()
    await store.close()
  })
  const setup: ServerSetup = { store, bus, data, port: 0, signup: 'open', logLevel: 'silent', limits: 'off' }
  const first = await createServer(setup)
  const ada = await signUp(t, first)
  await first.close()

  t.equal(await store.hasAccounts(), true)
  const second = await createServer(setup)
  t.teardown(() => second.close())
  t.equal((await call(second, 'GET', '/v1/sessions', { token: ada.token })).status, 200)
  t.same(errors, [])
})

t.test('audit events report sign-ins, linked devices, removals and rejections', async t => {
  const audit: AuditEvent[] = []
  const { url } = await startShared(t, { onAudit: event => audit.push(event), now: () => 5 })
  const ada = await signUp(t, { url })
  const body = await signInBody(ada.secret)
  await call({ url }, 'POST', '/v1/auth', { body })
  await call({ url }, 'POST', '/v1/auth', { body })
  const publicKey = Buffer.alloc(32, 7).toString('base64')
  await call({ url }, 'POST', '/v1/auth/request', { body: { publicKey } })
  await ada.call('POST', '/v1/auth/response', { body: { publicKey, response: 'c2VhbGVk' } })
  await call({ url }, 'POST', '/v1/auth/request', { body: { publicKey } })
  await ada.call('POST', '/v1/tokens', { body: { name: 'backup', scopes: ['read'] } })
  await ada.call('DELETE', '/v1/tokens/current')
  await ada.call('GET', '/v1/sessions')

  t.same(
    audit.map(({ type }) => type),
    [
      'account-created',
      'signed-in',
      'signed-in',
      'sign-in-refused',
      'request-refused',
      'pairing-approved',
      'device-paired',
      'token-created',
      'device-removed',
      'token-revoked',
      'request-refused'
    ]
  )
  t.match(audit[3], { reason: 'challenge-used', at: 5 })
  t.match(audit[6], { account: ada.id, kind: 'terminal' })
  t.match(audit.at(-1), { route: 'GET /v1/sessions', status: 401 })
  t.match(audit.at(-4), { label: 'backup' })
  for (const secret of [ada.token, publicKey, body.challenge]) t.notOk(JSON.stringify(audit).includes(secret))
})

t.test('events report what was stored, by names and numbers, never encrypted content', async t => {
  const events: ServerEvent[] = []
  const { url } = await startShared(t, { onEvent: event => events.push(event), now: () => 5 })
  const ada = await signUp(t, { url })
  const session = await ada.openSession()
  await ada.call('POST', '/v1/machines', { body: { id: 'laptop', metadata: 'c2VhbGVk' } })
  await ada.send(session, { localId: 'one', content: 'c2VhbGVk' }, { localId: 'two', content: 'c2VhbGVk' })
  await ada.send(session, { localId: 'one', content: 'c2VhbGVk' })
  await ada.call('POST', '/v1/account/settings', { body: { settings: 'c2VhbGVk', expectedVersion: 0 } })
  await ada.call('DELETE', `/v1/sessions/${session}`)

  const of = { account: ada.id, at: 5 }
  const messages = [
    { seq: 1, localId: 'one' },
    { seq: 2, localId: 'two' }
  ]
  t.same(events, [
    { type: 'session-opened', session, ...of },
    { type: 'machine-opened', machine: 'laptop', ...of },
    { type: 'messages-stored', session, messages, ...of },
    { type: 'value-written', value: { of: 'account', name: 'settings' }, version: 1, ...of },
    { type: 'removed', row: { of: 'session', id: session }, ...of }
  ])
})

t.test('a throwing listener affects nobody else, and its owner is told', async t => {
  const errors: unknown[] = []
  const refuse = () => {
    throw new Error('the listener is broken')
  }
  const { url } = await startShared(t, { onEvent: refuse, onAudit: refuse, onError: error => errors.push(error) })
  const ada = await signUp(t, { url })
  t.equal((await ada.send(await ada.openSession(), { localId: 'one' })).status, 200)
  t.match(errors, [/broken/, /broken/, /broken/, /broken/])
})
