import t, { type Test } from 'tap'
import type { ServerSetup } from '../../../lib/server/create.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { call, signUp } from '../../kit/person.ts'
import { startServer, startServerProcess } from '../../kit/server.ts'
import { type StandIn, startStandIn, tokenOf } from '../push/stand-in.ts'

const minute = 60_000

/** A server whose two clocks a test moves together, an account with a watch on ntfy, and the service it is told by. */
async function startWorld(t: Test, options: ServerSetup = {}) {
  const service = await startStandIn(t)
  const clock = manualClock()
  const wall = { offset: Date.parse('2026-01-15T13:00:00Z') }
  const server = await startServer(t, { pushAllow: 'loopback', clock, now: () => wall.offset + clock.now(), ...options })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const register = (path: string) =>
    ada.call('POST', '/v1/push-tokens', { body: { token: tokenOf('Ntfy', { url: `${service.url}/${path}` }) } })
  await register('watch')
  const channels = async () => (await ada.call('GET', '/v1/notifications')).body.channels
  const last = async () =>
    (await channels())[0].health.last.map(({ kind, outcome }: { kind: string; outcome: string }) => `${kind} ${outcome}`)
  const notify = async (kind: string, noticeId: string, more = {}) =>
    (await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { title: 'T', body: 'B', kind, noticeId, ...more } })).body
  const settings = (given: object) => ada.call('PUT', '/v1/notifications', { body: { settings: given } })
  /** Lets what has begun end, then moves the clocks. */
  const pass = async (ms: number) => {
    await channels()
    clock.advance(ms)
    await channels()
  }
  return { service, clock, wall, server, ada, session, register, channels, last, notify, settings, pass }
}

/** Moves time on in small steps until so many requests came. */
async function until(
  { service, pass }: { service: StandIn; pass: (ms: number) => Promise<void> },
  count: number,
  stepMs: number,
  most = 400
) {
  for (let step = 0; service.requests.length < count && step < most; step += 1) await pass(stepMs)
}

t.test('a notice is retried until the provider accepts it, with the same id [P6]', async t => {
  const world = await startWorld(t)
  const { service, notify, last, session } = world
  service.answer = () => ({ status: service.requests.length < 3 ? 503 : 200 })
  t.match(await notify('permission', 'n'), { result: 'failed', tokens: 1, delivered: 0, reason: 'refused' })
  t.same(await last(), ['permission waiting'])
  await until(world, 3, 1_000)
  t.same(await last(), ['permission accepted'])
  t.same(new Set(service.requests.map(({ headers }) => headers['x-sequence-id'])), new Set([session]))
  await until(world, 4, minute, 30)
  t.equal(service.requests.length, 3, 'and not again')
})

t.test('Retry-After is respected, and an expired notice is not retried [P6]', async t => {
  const world = await startWorld(t)
  const { service, notify, last, pass } = world
  service.answer = () => ({ status: 429, headers: { 'retry-after': '1800' } })
  await notify('permission', 'n')
  await pass(29 * minute)
  t.equal(service.requests.length, 1)
  await until(world, 2, minute, 5)
  t.equal(service.requests.length, 2)
  service.answer = () => ({ status: 500 })
  await notify('silent', 'short')
  await until(world, 99, 10 * minute, 12)
  t.same((await last()).slice(0, 1), ['silent expired'])
  await until(world, 999, 60 * minute, 30)
  t.same((await last()).toSorted(), ['permission expired', 'silent expired'])
})

t.test("a provider's rejection, or report that a channel is gone, is final [P6]", async t => {
  const { service, notify, last, channels, pass } = await startWorld(t)
  service.answer = () => ({ status: 403 })
  t.match(await notify('permission', 'n'), { result: 'failed', reason: 'refused' })
  t.same(await last(), ['permission refused'])
  for (const status of [404, 410]) {
    service.answer = () => ({ status })
    if ((await channels()).length > 0) t.match(await notify('permission', `gone ${status}`), { result: 'failed', reason: 'gone' })
    t.same(await channels(), [])
  }
  await pass(60 * minute)
  t.equal(service.requests.length, 2)
})

t.test('a service that cannot clear its notification keeps its channel, and shows the next notice [P6]', async t => {
  const { service, notify, channels, pass } = await startWorld(t)
  service.answer = ({ method }) => ({ status: method === 'DELETE' ? 404 : 200 })
  await notify('permission', 'n1')
  await notify('settled', 'n1')
  await service.came(2)
  await pass(minute)
  t.equal((await channels()).length, 1)
  t.match(await notify('permission', 'n2'), { result: 'sent', tokens: 1, delivered: 1 })
  t.same(
    service.requests.map(({ method }) => method),
    ['POST', 'DELETE', 'POST']
  )
})

t.test('a provider that hangs or never ends is abandoned, and retried [P6]', async t => {
  const { service, clock, ada, notify, last } = await startWorld(t)
  service.answer = () => 'never'
  const asked = notify('permission', 'n')
  await service.came(1)
  await ada.call('GET', '/v1/notifications')
  clock.advance(8_000)
  t.match(await asked, { result: 'failed', reason: 'late' }, 'who asked is answered')
  clock.advance(2_000)
  t.same(await last(), ['permission waiting'])
  service.answer = () => 'endless'
  const begun = service.requests.length
  for (let step = 0; service.requests.length === begun && step < 60; step += 1) {
    clock.advance(1_000)
    await last()
  }
  t.ok(service.requests.length > begun)
  t.same(await last(), ['permission waiting'])
})

t.test('a hanging provider delays no other kind, however much is queued for it [P6]', async t => {
  const { service, clock, ada, register, notify } = await startWorld(t)
  service.answer = () => 'never'
  for (let watch = 0; watch < 12; watch += 1) await register(`watch${watch}`)
  const begun = Array.from({ length: 5 }, (_, index) => notify('permission', `stuck${index}`))
  await service.came(4)
  const home = await startStandIn(t)
  await ada.call('POST', '/v1/push-tokens', {
    body: { token: tokenOf('Webhook', { url: `${home.url}/hook`, secret: `whsec_${'a'.repeat(44)}` }) }
  })
  begun.push(notify('permission', 'through'))
  // No time passes here, so what hangs goes on hanging.
  const [request] = await home.came(1)
  t.equal(JSON.parse(request?.body.toString() ?? '').data.id, 'through')
  clock.advance(10_000)
  await Promise.all(begun)
})

t.test('an answered decision never notifies: no retry, no escalation, no late notice [P6]', async t => {
  const world = await startWorld(t)
  const { service, notify, last, settings, channels } = world
  const [{ id }] = await channels()
  await settings({ escalation: { afterMinutes: 2, to: [id] } })
  await notify('permission', 'n')
  t.same(service.requests, [], 'the watch is told only when nobody answers')
  await notify('settled', 'n')
  await until(world, 1, minute, 10)
  t.same([service.requests, await last()], [[], ['permission settled']])
  await notify('settled', 'before')
  t.match(await notify('permission', 'before'), { result: 'suppressed' })
  await notify('permission', 'open')
  await until(world, 1, 30_000, 10)
  t.match(service.requests, [{ headers: { priority: '4' } }], 'nobody answered this one')
})

t.test('escalation notifies others of an open decision in turn, in the chosen order [P7]', async t => {
  const world = await startWorld(t)
  const { ada, notify, settings, channels, clock } = world
  const [first] = await channels()
  const home = await startStandIn(t)
  await ada.call('POST', '/v1/push-tokens', {
    body: { token: tokenOf('Webhook', { url: `${home.url}/hook`, secret: `whsec_${'a'.repeat(44)}` }) }
  })
  const hook = (await channels()).find((each: { id: string }) => each.id !== first.id)
  await settings({ escalation: { afterMinutes: 2, to: [hook.id, first.id] } })
  await notify('permission', 'n')
  const told = () => [home.requests.length, world.service.requests.length]
  clock.advance(2 * minute - 1)
  await world.pass(0)
  t.same(told(), [0, 0])
  await until({ ...world, service: home }, 1, 1_000, 5)
  t.same(told(), [1, 0], 'the first of the list, and nobody else')
  await until(world, 1, 30_000, 10)
  t.same(told(), [1, 1], 'the next, as long after that')
})

t.test('an app in use is not disturbed; a decision still open notifies afterwards [P7]', async t => {
  const world = await startWorld(t)
  const { service, ada, notify, last, pass, clock } = world
  const app = await ada.connect({ appState: 'active', watchedForMs: minute })
  t.match(await notify('done', 'd', { turnMs: 99_000 }), { result: 'suppressed', reason: 'active-ui-client' })
  t.match(await notify('permission', 'p'), { result: 'suppressed', reason: 'active-ui-client' })
  await pass(50_000)
  app.emit('app-state', { state: 'active', watchedForMs: minute })
  await app.emitWithAck('ping')
  await pass(11_000)
  t.same([service.requests, await last()], [[], ['permission watched']], 'touched again meanwhile')
  await notify('permission', 'q')
  clock.advance(minute + 1)
  await until(world, 1, 1_000, 5)
  t.equal(service.requests.length, 1, 'visible, but untouched for a minute')
  t.match(await notify('done', 'd2', { turnMs: 99_000 }), { result: 'sent' })
})

t.test('notices during quiet hours are summed up in the morning [P7]', async t => {
  const world = await startWorld(t)
  const { service, notify, settings, last } = world
  const days = [1, 2, 3, 4, 5, 6, 7]
  await settings({ quiet: { from: '12:00', to: '15:00', days, keep: 'collect', collectAt: '15:30' } })
  for (const id of ['a', 'b', 'c']) await notify('done', id, { turnMs: 99_000 })
  t.same(service.requests, [])
  await until(world, 1, minute, 200)
  t.match(service.requests, [{ headers: { title: 'During quiet hours', tags: 'inbox_tray' } }])
  t.same((await last()).toSorted(), ['done accepted', 'done collected', 'done collected'])
})

t.test('a clock jump loses no notice and sends none twice [C1]', async t => {
  const world = await startWorld(t)
  const { service, wall, notify, last } = world
  service.answer = () => ({ status: 503 })
  await notify('permission', 'n')
  wall.offset -= 365 * 24 * 60 * minute
  service.answer = () => ({ status: 200 })
  await until(world, 2, 10_000, 60)
  t.same([service.requests.length, await last()], [2, ['permission accepted']])
  await until(world, 3, minute, 60)
  t.equal(service.requests.length, 2)
})

t.test('a clock that is wrong at startup and corrected later drops no notice [C1]', async t => {
  const data = t.testdir()
  const { server: first, wall, clock, ada, notify, last, service } = await startWorld(t, { data })
  await notify('permission', 'n')
  await until({ service, pass: async ms => clock.advance(ms) }, 1, 1_000)
  const known = await last()
  t.equal(known.length, 1)
  await first.close()

  const wrongBy = 60 * 24 * 60 * minute
  wall.offset += wrongBy
  const server = await startServer(t, { data, pushAllow: 'loopback', clock, now: () => wall.offset + clock.now() })
  const kept = async () => {
    const { body } = await call(server, 'GET', '/v1/notifications', { token: ada.token })
    return body.channels[0].health.last.length
  }
  const pass = async (minutes: number) => {
    for (let passed = 0; passed < minutes; passed += 1) {
      // The store is asked for its time every 2 s, and an answer that took longer than a second does not count.
      for (const ms of [minute - 2_000, 2_000]) {
        clock.advance(ms)
        await kept()
      }
    }
  }
  await pass(58)
  wall.offset -= wrongBy
  await pass(5)
  t.equal(await kept(), 1, 'old notices are looked for every hour')
  await pass(60)
  t.equal(await kept(), 1)
  wall.offset += wrongBy
  await pass(75)
  t.equal(await kept(), 0, 'a date that stands counts')
})

t.test('a test reports its result at once, and an arrival is counted once for its own device', async t => {
  const { ada, channels, service } = await startWorld(t)
  const [{ id }] = await channels()
  t.match((await ada.call('POST', '/v1/notifications/test', { body: {} })).body, { channels: [{ id, outcome: 'accepted', reason: null }] })
  t.match(service.requests, [{ headers: { title: 'This is a test' } }])
  t.equal((await ada.call('POST', '/v1/notifications/test', { body: { channel: 'nowhere' } })).status, 404)
  service.answer = () => ({ status: 400 })
  t.match((await ada.call('POST', '/v1/notifications/test', { body: { channel: id } })).body, {
    channels: [{ outcome: 'refused', reason: 'HTTP 400' }]
  })
  t.equal((await ada.call('POST', '/v1/push-receipts', { body: { receipt: 'guessed' } })).status, 200)
  t.match((await channels())[0].health, { sent: 1, arrived: 0 })
})

t.test('a server that dies before recording an accepted notice sends it again with the same id [P6]', async t => {
  const service = await startStandIn(t)
  const data = t.testdir()
  const first = await startServerProcess(t, { data, args: ['--push-allow', 'loopback'] })
  const ada = await signUp(t, first)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/push-tokens', { body: { token: tokenOf('Ntfy', { url: `${service.url}/watch` }) } })
  service.answer = () => {
    first.child.kill('SIGKILL')
    return {}
  }
  await ada
    .call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: 'permission', title: 'T', body: 'B', noticeId: 'n' } })
    .catch(() => {})
  t.equal(service.requests.length, 1)
  // The attempt was held for a minute: a server that starts then makes it again.
  const clock = manualClock()
  const server = await startServer(t, { data, pushAllow: 'loopback', clock, now: () => Date.now() + 2 * minute + clock.now() })
  const again = await service.came(2)
  t.same(
    again.map(({ path, headers }) => [path, headers['x-sequence-id']]),
    [
      ['/watch', session],
      ['/watch', session]
    ]
  )
  const { status } = await fetch(`${server.url}/health`)
  t.equal(status, 200)
})

t.test('Expo tickets are checked later, and a removed device is deleted [P6]', async t => {
  const expo = await startStandIn(t)
  const metricsToken = 'a-token-of-the-monitor'
  const world = await startWorld(t, { expoUrl: expo.url, expoToken: 'expo-secret', metricsToken })
  const { ada, notify, pass } = world
  for (const name of ['one', 'two']) await ada.call('POST', '/v1/push-tokens', { body: { token: `ExponentPushToken[${name}]` } })
  expo.answer = ({ path, body }) => {
    const asked = JSON.parse(body.toString())
    if (path.endsWith('/send'))
      return { text: JSON.stringify({ data: asked.map(({ to }: { to: string }) => ({ status: 'ok', id: `ticket ${to}` })) }) }
    const receipts = asked.ids.map((id: string) => [
      id,
      id.includes('[one]') ? { status: 'ok' } : { status: 'error', details: { error: 'DeviceNotRegistered' } }
    ])
    return { text: JSON.stringify({ data: Object.fromEntries(receipts) }) }
  }
  t.match(await notify('permission', 'n'), { result: 'sent', delivered: 3 })
  t.equal(expo.requests[0]?.headers.authorization, 'Bearer expo-secret')
  await pass(14 * minute)
  t.equal(expo.requests.length, 1)
  for (let step = 0; expo.requests.length < 2 && step < 10; step += 1) await pass(minute)
  t.equal(expo.requests[1]?.path, '/--/api/v2/push/getReceipts')
  const tokens = async (): Promise<string[]> =>
    (await ada.call('GET', '/v1/push-tokens')).body.tokens.map(({ token }: { token: string }) => token)
  for (let step = 0; (await tokens()).length > 2 && step < 50; step += 1);
  t.same(
    (await tokens()).filter(token => token.startsWith('Expo')),
    ['ExponentPushToken[one]']
  )
  const metrics = await fetch(`${world.server.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
  const counted = (await metrics.text()).split('\n').filter(line => line.startsWith('afield_push_deliveries_total{channel="expo"'))
  t.same(
    counted.map(line => line.slice(line.indexOf('outcome'))),
    ['outcome="accepted"} 2', 'outcome="gone"} 1']
  )
})
