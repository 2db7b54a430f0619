import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { openBus } from '../../lib/bus/open.ts'
import type { ServerSetup } from '../../lib/server/create.ts'
import { limits } from '../../lib/server/limits.ts'
import type { Push } from '../../lib/server/push.ts'
import { manualClock } from '../kit/manual-clock.ts'
import { call, next, Person, signInBody, signUp, type Untyped } from '../kit/person.ts'
import { lacksPostgres, type Postgres, startPostgres } from '../kit/postgres.ts'
import { startServer } from '../kit/server.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'
import { passTime } from './pass-time.ts'
import { isSoSoon, listenToLimit } from './told-limits.ts'

const minute = 60_000

/** A database, and servers on it that hear of each other by nothing else: as while the bus is down. */
async function startPlace(t: Test, postgres: Postgres) {
  const store = await postgres.makeDatabase()
  const data = t.testdir({ 0: {}, 1: {} })
  let count = 0
  const start = (options: ServerSetup = {}) => startServer(t, { store, data: join(data, String(count++)), ...options })
  return Object.assign(start, { store, query: (sql: string) => postgres.query(sql, basename(store)) })
}

t.test('instances on one database', { skip: lacksPostgres }, async t => {
  const postgres = await startPostgres(t)

  t.test('take the same setup code, for one account [A9] [M7]', async t => {
    const start = await startPlace(t, postgres)
    const [here, there] = [await start({ signup: 'owner' }), await start({ signup: 'owner' })]
    const setupCode = here.setupCode?.code
    t.type(setupCode, 'string')
    const file = there.setupCode?.file ?? ''
    t.equal(readFileSync(file, 'utf8'), `${setupCode}\n`)
    const secrets = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
    const answers = await Promise.all(
      [here, there].map(async (server, index) =>
        call(server, 'POST', '/v1/auth', { body: { ...(await signInBody(secrets[index] ?? new Uint8Array(32))), setupCode } })
      )
    )
    t.same(answers.map(({ status }) => status).toSorted(), [200, 403])
    for (const server of [here, there]) {
      const late = await call(server, 'POST', '/v1/auth', { body: { ...(await signInBody(new Uint8Array(32).fill(3))), setupCode } })
      t.match(late, { status: 403, body: { error: 'This server accepts no new accounts.' } })
      t.notOk(existsSync(server.setupCode?.file ?? ''), 'the code is gone, also where nobody used it')
    }
  })

  t.test('answer 503 and when to come back while no connection is free, and then as before [M6]', async t => {
    const start = await startPlace(t, postgres)
    const server = await start()
    const ada = await signUp(t, server)
    const session = await ada.openSession()
    const locker = new pg.Client({ connectionString: start.store })
    locker.on('error', () => {})
    await locker.connect()
    t.teardown(() => locker.end())
    // A request that waits for the end of the lock is answered with 200.
    await locker.query("SET idle_in_transaction_session_timeout = '15s'; BEGIN; SELECT FROM account FOR UPDATE")
    const write = (localId: string) =>
      fetch(`${server.url}/v3/sessions/${session}/messages`, {
        method: 'POST',
        headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ content: 'bQ==', localId }] })
      })
    for (const answer of await Promise.all(['one', 'two', 'three'].map(write))) {
      t.same([answer.status, answer.headers.get('retry-after') !== null], [503, true])
    }
    t.equal((await locker.query('ROLLBACK')).command, 'ROLLBACK', 'which was holding on all that time')
    for (const localId of ['one', 'two', 'three']) t.equal((await write(localId)).status, 200)
    const stored = await ada.call('GET', `/v3/sessions/${session}/messages?after_seq=0`)
    t.same(
      stored.body.messages.map(({ seq }: Untyped) => seq),
      [1, 2, 3]
    )
  })

  t.test('accept the nonces and tokens of each other, and have one key for notifications [A3] [M7]', async t => {
    const start = await startPlace(t, postgres)
    const [here, there] = [await start(), await start()]
    const keyOf = async (server: { url: string }) => (await call(server, 'GET', '/v2/auth/nonce')).body.serverKeyId
    t.equal(await keyOf(here), await keyOf(there))
    const ada = await signUp(t, here)
    const pushKey = async (server: { url: string }) => (await call(server, 'GET', '/v1/push-key', { token: ada.token })).body.key
    t.type(await pushKey(here), 'string')
    t.equal(await pushKey(here), await pushKey(there))
  })

  t.test('count together what waits for an answer, and without a bus for themselves how fast an address asks [Q1] [Q2] [M7]', async t => {
    const start = await startPlace(t, postgres)
    const setup = { limits: 'default', trustProxy: 'loopback' } as const
    const [here, there] = [await start(setup), await start(setup)]
    const askOf = (server: { url: string }, address: string, key = crypto.getRandomValues(Buffer.alloc(32)).toString('base64')) =>
      call(server, 'POST', '/v1/auth/request', { body: { publicKey: key }, headers: { 'x-forwarded-for': address } })
    const statusesOf = async (asks: readonly [server: { url: string }, address: string][]) => {
      const statuses: number[] = []
      for (const ask of asks) statuses.push((await askOf(...ask)).status)
      return statuses
    }
    const many = (count: number, server: { url: string }, address: string) =>
      Array.from({ length: count }, () => [server, address] as [typeof server, string])

    t.same(await statusesOf(many(6, here, '192.0.2.1')), [200, 200, 200, 200, 200, 429], 'of one address, at one instance')
    t.same(await statusesOf(many(4, there, '192.0.2.2')), [200, 200, 200, 429], 'eight of one network, at both together')
    t.same(await statusesOf(many(1, here, '192.0.2.3')), [429])
    t.same(await statusesOf(many(1, here, '198.51.100.1')), [200])
    t.same(await statusesOf(many(5, there, '198.51.100.1')), [200, 200, 200, 200, 200], 'the other has not counted the one before')
  })

  t.test('count together what is used of limits, on the bus in the database [Q1] [Q2] [A8] [M8]', async t => {
    const start = await startPlace(t, postgres)
    const setup = { limits: 'default', trustProxy: 'loopback', signup: 'owner', bus: 'postgres' } as const
    const [here, there] = [await start(setup), await start(setup)]
    let askers = 0
    /** Another person at another address, who have used nothing of their limits. */
    const enter = async (server: { url: string }, code: object): Promise<string> => {
      askers += 1
      const secret = new Uint8Array(32).fill(askers)
      const headers = { 'x-forwarded-for': `198.51.100.${askers}` }
      return (await call(server, 'POST', '/v1/auth', { body: { ...(await signInBody(secret)), ...code }, headers })).body.error
    }
    for (let time = 0; time < 9; time += 1) t.equal(await enter(here, { setupCode: 'AAAA' }), 'setup-code-required')
    await enter(there, { setupCode: 'AAAA' })
    const isLocked = async (server: { url: string }) => (await enter(server, {})).startsWith('Too many wrong setup codes')
    for (const server of [here, there]) t.ok(await isSoSoon(() => isLocked(server)))

    const bus = await openBus('postgres', { onError: error => t.error(error), store: start.store })
    t.teardown(() => bus.close())
    const told = await listenToLimit(bus, 'login')
    const from = { headers: { 'x-forwarded-for': '192.0.2.1' }, body: { publicKey: 'A', challenge: 'A', signature: 'A' } }
    const login = async (server: { url: string }) => (await call(server, 'POST', '/v1/auth', from)).status
    for (let time = 0; time < limits.login.burst; time += 1) t.equal(await login(here), 401)
    await told.used
    t.ok(await isSoSoon(async () => (await login(there)) === 429))
  })

  t.test('close the connections of a token that another one ended, and refuse it, without a bus [A4] [M7]', async t => {
    const start = await startPlace(t, postgres)
    const [here, there] = [await start(), await start()]
    const ada = await signUp(t, here)
    const elsewhere = new Person(t, there, ada.secret, ada.token)
    const socket = await elsewhere.connect()
    t.equal((await elsewhere.call('GET', '/v1/sessions')).status, 200)
    const closed = new Promise(resolve => socket.once('disconnect', resolve))
    const began = performance.now()
    t.equal((await ada.call('DELETE', '/v1/devices/current')).status, 200)
    await closed
    t.ok(performance.now() - began < 5_000)
    t.equal((await elsewhere.call('GET', '/v1/sessions')).status, 401)
  })

  t.test('forget their tokens after a long time without the database, and what ended meanwhile stays ended [A4] [M7]', async t => {
    const start = await startPlace(t, postgres)
    const here = await start()
    const direct = new URL(start.store)
    const proxy = await openTcpProxy(t, `http://127.0.0.1:${direct.port}`)
    const clock = manualClock()
    const store = start.store.replace(direct.port, new URL(proxy.url).port)
    const there = await start({ store, clock, onError: () => {} })
    const ada = await signUp(t, here)
    const elsewhere = new Person(t, there, ada.secret, ada.token)
    const socket = await elsewhere.connect()
    const closed = new Promise(resolve => socket.once('disconnect', resolve))
    t.equal((await elsewhere.call('GET', '/v1/sessions')).status, 200)

    await proxy.closePort()
    t.equal((await ada.call('DELETE', '/v1/devices/current')).status, 200)
    await start.query('UPDATE revocation SET at = at - 11 * 60000')
    await passTime(clock, 11 * minute, socket)
    await proxy.openPort()
    t.equal((await elsewhere.call('GET', '/v1/sessions')).status, 401, 'before anything was read again')
    let isClosed = false
    void closed.then(() => {
      isClosed = true
    })
    for (let looks = 0; !isClosed && looks < 200; looks += 1) {
      clock.advance(1_000)
      await elsewhere.call('GET', '/v1/sessions')
    }
    t.ok(isClosed, 'its connection has ended, too')
  })

  t.test('tell each other at once what changed and what ended, with that database as their bus [S3] [A4]', async t => {
    const start = await startPlace(t, postgres)
    const [here, there] = [await start({ bus: 'postgres' }), await start({ bus: 'postgres' })]
    const ada = await signUp(t, here)
    const session = await ada.openSession()
    const app = await new Person(t, there, ada.secret, ada.token).connect()
    for (const content of ['aGk=', 'x'.repeat(20_000)]) {
      const told = next(app, 'update', ({ body }) => body.t === 'new-message')
      await ada.send(session, { localId: content.slice(0, 9), content })
      t.match(await told, { body: { sid: session, message: { content: { c: content } } } })
    }
    const closed = new Promise(resolve => app.once('disconnect', resolve))
    await ada.call('DELETE', '/v1/devices/current')
    await closed
  })

  t.test('leave a notice that another one is sending to it, whatever their clocks say [M7]', async t => {
    const start = await startPlace(t, postgres)
    const sent: string[] = []
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const pushOf =
      (name: string): Push =>
      async (_, tokens) => {
        sent.push(name)
        begin()
        if (name === 'here') await answered
        return tokens.map(token => ({ token, outcome: 'delivered' as const }))
      }
    const here = await start({ push: pushOf('here') })
    const ada = await signUp(t, here)
    await ada.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[x]' } })
    const session = await ada.openSession()
    const body = { title: 'T', body: 'B', kind: 'permission', noticeId: 'n' }
    const asked = ada.call('POST', `/v1/sessions/${session}/push-event`, { body })
    await begun
    // Its own clock is ahead: by that, the attempt of the other would have ended long ago.
    const clock = manualClock()
    const there = await start({ push: pushOf('there'), clock, now: () => Date.now() + 60 * minute })
    const seen = new Person(t, there, ada.secret, ada.token)
    for (let looks = 0; looks < 5; looks += 1) {
      t.equal((await seen.call('GET', '/v1/notifications')).status, 200)
      clock.advance(1)
    }
    answer()
    t.match((await asked).body, { result: 'sent' })
    t.same(sent, ['here'])
  })

  t.test('do what another one that died was doing, once its claim ended: its notice is sent [M7]', async t => {
    const start = await startPlace(t, postgres)
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const { promise: sent, resolve: send } = Promise.withResolvers<void>()
    const stopped = manualClock()
    const here = await start({
      push: async (_, tokens, signal) => {
        begin()
        await new Promise(resolve => signal.addEventListener('abort', resolve))
        return tokens.map(token => ({ token, outcome: 'unreachable' as const }))
      },
      clock: stopped
    })
    const ada = await signUp(t, here)
    await ada.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[x]' } })
    const session = await ada.openSession()
    const body = { title: 'T', body: 'B', kind: 'permission', noticeId: 'n' }
    const asked = ada.call('POST', `/v1/sessions/${session}/push-event`, { body })
    // From here on this one does nothing: its time stands still.
    await begun
    const clock = manualClock()
    const there = await start({
      push: async (_, tokens) => {
        send()
        return tokens.map(token => ({ token, outcome: 'delivered' as const }))
      },
      clock
    })
    const seen = new Person(t, there, ada.secret, ada.token)
    let isSent = false
    void sent.then(() => {
      isSent = true
    })
    for (let seconds = 0; !isSent && seconds < 200; seconds += 1) {
      await seen.call('GET', '/v1/notifications')
      clock.advance(1_000)
    }
    await sent
    const last = async () => (await seen.call('GET', '/v1/notifications')).body.channels[0].health.last[0].outcome
    while ((await last()) !== 'accepted');
    stopped.advance(minute)
    await asked
    t.equal(await last(), 'accepted', 'also once that one is back')
  })

  t.test('put nobody offline who is alive at another one, whatever their clocks say [M7]', async t => {
    const start = await startPlace(t, postgres)
    const behind = manualClock()
    const here = await start({ clock: behind, now: () => Date.now() - 30 * minute })
    const ada = await signUp(t, here)
    const session = await ada.openSession()
    const process = await ada.connect({ clientType: 'session-scoped', sessionId: session })
    const row = async () => (await ada.call('GET', '/v1/sessions')).body.sessions.find(({ id }: Untyped) => id === session)
    const { activeAt } = await row()
    process.emit('session-alive', { sid: session, time: Date.now() })
    await passTime(behind, 40_000, process)
    process.emit('session-alive', { sid: session, time: Date.now() })
    await passTime(behind, 10_000, process)
    while ((await row()).activeAt <= activeAt + minute);
    const clock = manualClock()
    const there = await start({ clock, now: () => Date.now() + 30 * minute })
    const seen = new Person(t, there, ada.secret, ada.token)
    const app = await seen.connect()
    const silent = await ada.openSession()
    await start.query(`UPDATE session SET active = true, active_at = 0 WHERE id = '${silent}'`)
    const swept = next(app, 'ephemeral', ({ id, active }) => id === silent && !active)
    await passTime(clock, minute, app)
    await swept
    t.match(await row(), { active: true })
  })
})
