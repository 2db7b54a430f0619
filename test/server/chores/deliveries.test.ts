import t, { type Test } from 'tap'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { Deliveries } from '../../../lib/server/chores/deliveries.ts'
import type { ServerSetup } from '../../../lib/server/create.ts'
import type { Outgoing, PushProvider, SendOutcome } from '../../../lib/server/push.ts'
import type { DeliveryResult, DueDelivery, NoticeStore } from '../../../lib/store/notices.ts'
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
  const first = await startServerProcess(t, { args: ['--push-allow', 'loopback'] })
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
  const server = await startServer(t, { data: first.data, pushAllow: 'loopback', clock, now: () => Date.now() + 2 * minute + clock.now() })
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

const ada = v.parse(ids.accountId, 'ada')
const hour = 60 * minute
const settled = () => new Promise(setImmediate)
let lastKey = 0

function due(more: Partial<Omit<DueDelivery, 'notice'>> & { notice?: Partial<DueDelivery['notice']> } = {}): DueDelivery {
  lastKey += 1
  return {
    ...{
      key: lastKey,
      account: ada,
      token: `token ${lastKey}`,
      channel: 'c',
      receipt: `receipt ${lastKey}`,
      what: 'show',
      ticket: null,
      attempts: 1
    },
    ...{ isSilent: false, isCollected: false, unlessWatched: false, language: 'en' },
    ...more,
    notice: {
      ...{ id: 'n', kind: 'done', session: v.parse(ids.sessionId, 's'), title: '', body: '', preview: null, createdAt: 5, expiresAt: 1e15 },
      ...more.notice
    }
  }
}

/** One lane, whose store has what a test puts there, and whose provider answers as it says. */
function openLane(t: Test, { mostAtOnce = 1, looks = false }: { mostAtOnce?: number; looks?: boolean } = {}) {
  const clock = manualClock()
  const queue: DueDelivery[][] = []
  const claims: Parameters<NoticeStore['claimDeliveries']>[0][] = []
  const results: DeliveryResult[] = []
  const sent: Outgoing[][] = []
  const looked: (readonly string[])[] = []
  const counted: string[] = []
  const forgotten: { before: number; limit: number }[] = []
  const cleared: (readonly string[])[] = []
  const works: string[] = []
  const errors: unknown[] = []
  const state = {
    answer: async (all: readonly Outgoing[], _signal: AbortSignal): Promise<SendOutcome[]> => all.map(() => ({ outcome: 'accepted' })),
    lookAnswer: [] as SendOutcome[],
    isWatched: async () => false,
    nextAt: undefined as number | undefined,
    claimFails: false,
    mayRemove: true,
    isClaimed: true,
    forgets: [] as number[]
  }
  const provider: PushProvider = {
    ...{ kind: 'ntfy', mostAtOnce, acknowledges: false, clears: true, knows: () => true, flawOf: () => undefined },
    async send(all, signal) {
      sent.push([...all])
      return state.answer(all, signal)
    },
    ...(looks && {
      async look(tickets) {
        looked.push(tickets)
        return state.lookAnswer
      }
    })
  }
  const deliveries = new Deliveries({
    store: {
      async claimDeliveries(ask) {
        claims.push(ask)
        if (state.claimFails) throw new Error('The store is away.')
        return queue.shift() ?? []
      },
      async endDeliveries(ended, clears) {
        cleared.push(clears)
        results.push(...ended)
      },
      nextDelivery: async () => state.nextAt,
      async forgetNotices(before, limit) {
        forgotten.push({ before, limit })
        return state.forgets.shift() ?? 0
      }
    },
    ...{ providers: [provider], isWatched: () => state.isWatched(), clock, time: () => 1e12 + clock.now(), random: () => 0.5 },
    async claim(work) {
      works.push(work)
      return state.isClaimed
    },
    mayRemove: () => state.mayRemove,
    metrics: { delivered: (kind, outcome) => counted.push(`${kind} ${outcome}`) },
    onError: error => errors.push(error)
  })
  t.teardown(() => deliveries.close())
  const put = async (...batch: DueDelivery[]) => {
    queue.push(batch)
    deliveries.wake()
    for (let turns = 0; turns < 10; turns += 1) await settled()
    return results.splice(0)
  }
  return { deliveries, clock, state, queue, claims, results, sent, looked, counted, cleared, forgotten, works, errors, put, now: 1e12 }
}

t.test('what is due is claimed by the time of the store, held for a minute, and of each account only some', async t => {
  const one = openLane(t)
  await settled()
  t.strictSame(one.claims[0], { kind: 'ntfy', now: 1e12, heldUntil: 1e12 + minute, limit: 8, ofAnAccount: 4, busy: [] })
  const many = openLane(t, { mostAtOnce: 100 })
  await settled()
  t.match(many.claims[0], { limit: 100, ofAnAccount: 100 })
})

t.test('at most eight requests are in progress, and four for one account', async t => {
  const { claims, put, sent, state } = openLane(t)
  const answers: (() => void)[] = []
  state.answer = all => new Promise(resolve => answers.push(() => resolve(all.map(() => ({ outcome: 'accepted' })))))
  await put(...[1, 2, 3, 4].map(() => due()))
  t.match(claims.at(-1), { limit: 4, busy: [ada] })
  await put(...['a', 'b', 'c', 'd'].map(id => due({ account: v.parse(ids.accountId, id) })))
  t.equal(sent.length, 8)
  const asked = claims.length
  await put()
  t.equal(claims.length, asked, 'there is no room for more')
  answers[0]?.()
  await put()
  t.match(claims.at(-1), { limit: 1, busy: [] })
  for (const answer of answers) answer()
  await put()
})

t.test('a notice is sent with the words of its kind, or with its own, and with the time left to it', async t => {
  const { put, sent } = openLane(t)
  const outgoing = async (...given: Parameters<typeof due>) => {
    await put(due(...given))
    return sent.pop()?.[0]
  }
  const words = { title: 'Your agent is done', body: 'Open the app to see it.' }
  const usual = { notice: 'n', kind: 'done', session: 's', what: 'show', isSilent: false, createdAt: 5, language: 'en', preview: undefined }
  const first = await outgoing({ notice: { expiresAt: 1e12 + hour } })
  t.strictSame(first, { ...usual, ...words, token: `token ${lastKey}`, receipt: `receipt ${lastKey}`, lastsMs: hour })
  t.match(await outgoing({ notice: { title: 'T', body: 'B', preview: 'sealed', session: null, expiresAt: 1 } }), {
    ...{ title: 'T', body: 'B', preview: 'sealed', session: undefined, lastsMs: 0 }
  })
  t.match(await outgoing({ what: 'clear', isCollected: true, isSilent: true }), { ...words, what: 'clear', kind: 'done', isSilent: true })
  t.match(await outgoing({ isCollected: true, notice: { title: 'T', body: 'B', preview: 'sealed' } }), {
    ...{ kind: 'digest', session: undefined, preview: undefined, title: 'During quiet hours', what: 'show' }
  })
  t.match(await outgoing({ isCollected: true, language: 'zh' }), { title: '安静时段期间' })
})

t.test('each answer of a provider is final, or says when to try again [P6]', async t => {
  const { now, put, state, cleared, counted } = openLane(t)
  const result = async (outcome: SendOutcome, ...given: Parameters<typeof due>) => {
    state.answer = async () => [outcome]
    const [ended, ...others] = await put(due(...given))
    if (!ended) throw new Error('The delivery has no result.')
    const { key, ...rest } = ended
    t.same([key, others], [lastKey, []])
    return rest
  }
  t.strictSame(await result({ outcome: 'accepted' }), { outcome: 'accepted', reason: null, at: now })
  t.strictSame(await result({ outcome: 'accepted', ticket: 'x' }), {
    outcome: 'accepted',
    reason: null,
    at: now,
    ticket: 'x',
    lookAt: now + 15 * minute
  })
  t.strictSame(await result({ outcome: 'accepted', ticket: 'x' }, { what: 'clear' }), { outcome: 'accepted', reason: null, at: now })
  t.strictSame(await result({ outcome: 'gone', reason: 'HTTP 404' }), { outcome: 'gone', reason: 'HTTP 404', at: now })
  t.strictSame(await result({ outcome: 'gone' }, { what: 'clear' }), { outcome: 'refused', reason: null, at: now })
  t.strictSame(await result({ outcome: 'refused', reason: 'x' }), { outcome: 'refused', reason: 'x', at: now })
  t.strictSame(await result({ outcome: 'unknown' }), { outcome: 'unknown', reason: null, at: now })
  t.same(counted, ['ntfy accepted', 'ntfy accepted', 'ntfy gone', 'ntfy refused', 'ntfy unknown'], 'clearing delivers nothing')
  t.same(new Set(cleared), new Set([['ntfy']]), 'the store knows which kinds can be cleared')
  const waits = async (attempts: number, retryAfterMs?: number) => {
    const again = await result({ outcome: 'busy', retryAfterMs }, { attempts })
    t.match(again, { outcome: 'waiting', reason: 'busy', attempts })
    return 'dueAt' in again ? again.dueAt - now : again
  }
  t.same([await waits(1), await waits(2), await waits(3)], [5_000, 15_000, 45_000])
  t.equal(await waits(9), hour)
  t.equal(await waits(1, 4_999), 5_000)
  t.equal(await waits(1, 7_000), 7_000)
  t.equal(await waits(1, 7 * hour), 6 * hour)
  t.equal(counted.at(-1), 'ntfy waiting')
  t.match(await result({ outcome: 'unreachable', reason: 'no answer' }), { outcome: 'waiting', reason: 'no answer' })
  t.match(await result({ outcome: 'busy' }, { notice: { expiresAt: now + 5_001 } }), { outcome: 'waiting' })
  t.strictSame(await result({ outcome: 'busy', reason: 'HTTP 503' }, { notice: { expiresAt: now + 5_000 } }), {
    outcome: 'expired',
    reason: 'HTTP 503',
    at: now
  })
})

t.test('results that come later are looked up by their tickets, apart from what is sent, and at most six times again', async t => {
  const { now, put, state, sent, looked, counted } = openLane(t, { mostAtOnce: 2, looks: true })
  const look = (more: Parameters<typeof due>[0] = {}) => due({ what: 'look', ticket: `ticket ${lastKey + 1}`, ...more })
  const ask = async (outcomes: SendOutcome[], ...given: DueDelivery[]) => {
    state.lookAnswer = outcomes
    return (await put(...given)).map(({ key: _, ...rest }) => rest)
  }
  const batch = [due(), look(), due(), look({ ticket: null }), due()]
  await ask([{ outcome: 'accepted' }, { outcome: 'accepted' }], ...batch)
  t.same(looked, [[batch[1]?.ticket, '']])
  t.same(
    sent.map(each => each.map(({ token }) => token)),
    [[batch[0]?.token, batch[2]?.token], [batch[4]?.token]]
  )
  counted.length = 0
  t.strictSame(await ask([{ outcome: 'accepted', ticket: 'x' }], look()), [{ outcome: 'accepted', reason: null, at: now }])
  t.same(counted, [])
  t.match(await ask([{ outcome: 'busy' }], look({ attempts: 6, notice: { expiresAt: 1 } })), [
    { outcome: 'waiting', reason: null, attempts: 6 }
  ])
  t.strictSame(await ask([{ outcome: 'unreachable', reason: 'no answer' }], look({ attempts: 7 })), [
    { outcome: 'accepted', reason: 'no answer', at: now }
  ])
  t.same(counted, [], 'only a failure is news')
  await ask([{ outcome: 'gone' }], look())
  t.same(counted, ['ntfy gone'])
  t.match(await ask([], look()), [{ outcome: 'waiting' }], 'no answer to it')
})

t.test('while an app is in use what would only disturb is not sent [P7]', async t => {
  const { now, put, state, sent, counted } = openLane(t, { mostAtOnce: 9 })
  let asked = 0
  state.isWatched = async () => {
    asked += 1
    return true
  }
  const batch = [due({ unlessWatched: true }), due({ unlessWatched: true }), due(), due({ what: 'clear', unlessWatched: true })]
  t.match(await put(...batch), [
    { key: batch[0]?.key, outcome: 'watched', reason: null, at: now },
    { key: batch[1]?.key, outcome: 'watched' },
    { key: batch[2]?.key, outcome: 'accepted' },
    { key: batch[3]?.key, outcome: 'accepted' }
  ])
  t.equal(asked, 1, 'once for an account')
  t.equal(sent[0]?.length, 2)
  t.same(counted, ['ntfy watched', 'ntfy watched', 'ntfy accepted'])
  sent.length = 0
  await put(due({ unlessWatched: true }))
  t.same(sent, [], 'there is no request without anything in it')
  state.isWatched = async () => false
  t.match(await put(due({ unlessWatched: true })), [{ outcome: 'accepted' }])
})

t.test('what another instance may have sent meanwhile is not sent', async t => {
  const { clock, put, state, sent } = openLane(t)
  const afterwards = (ms: number) => async () => {
    clock.advance(ms)
    return false
  }
  state.isWatched = afterwards(50_000)
  t.equal((await put(due({ unlessWatched: true }))).length, 1)
  state.isWatched = afterwards(50_001)
  t.same(await put(due({ unlessWatched: true })), [])
  t.equal(sent.length, 1)
})

t.test('a request is aborted after ten seconds, and when deliveries are closed', async t => {
  const { clock, deliveries, put, queue, state, results } = openLane(t)
  const hangs = (_: readonly Outgoing[], signal: AbortSignal) =>
    new Promise<SendOutcome[]>(resolve => {
      signal.addEventListener('abort', () => resolve([{ outcome: 'unreachable' }]))
    })
  state.answer = hangs
  await put(due())
  clock.advance(9_999)
  await settled()
  t.same(results, [])
  clock.advance(1)
  await settled()
  t.match(results.splice(0), [{ outcome: 'waiting', reason: 'unreachable' }])
  await put(due())
  await deliveries.close()
  t.match(results, [{ outcome: 'waiting' }])
  t.equal(clock.pending, 0)
  queue.push([due()])
  deliveries.wake()
  await settled()
  t.equal(queue.length, 1, 'and nothing is claimed any more')
})

t.test('the store is asked again when the next delivery is due, within a minute in any case, and after an error', async t => {
  const { clock, claims, errors, state, put, deliveries } = openLane(t)
  const looksAfter = async (ms: number) => {
    deliveries.wake()
    for (let turns = 0; turns < 5; turns += 1) await settled()
    const before = claims.length
    clock.advance(ms - 1)
    await settled()
    t.equal(claims.length, before, `not before ${ms}`)
    clock.advance(1)
    await settled()
    t.equal(claims.length, before + 1, `after ${ms}`)
    for (let turns = 0; turns < 5; turns += 1) await settled()
  }
  await looksAfter(minute)
  state.nextAt = 1e12 + clock.now() + 5_000
  await looksAfter(5_000)
  state.nextAt = 1e12 + clock.now() + 5 * minute
  await looksAfter(minute)
  state.nextAt = 1
  await looksAfter(20)
  state.claimFails = true
  await looksAfter(minute)
  t.match(errors[0], { message: 'The store is away.' })
  state.claimFails = false
  // What is due already waits for the request in progress, whose end looks again.
  let answer = (_: SendOutcome[]) => {}
  state.answer = () =>
    new Promise(resolve => {
      answer = resolve
    })
  await put(due())
  const before = claims.length
  clock.advance(9_000)
  await settled()
  t.equal(claims.length, before)
  answer([{ outcome: 'accepted' }])
  for (let turns = 0; turns < 5; turns += 1) await settled()
  t.equal(claims.length, before + 1)
})

t.test('who waits for the first attempts of a notice is told once all were made, or when the time is up', async t => {
  const { clock, deliveries, put } = openLane(t, { mostAtOnce: 9 })
  const told: string[] = []
  const wait = (notice: string, count: number) => void deliveries.firstTry(ada, notice, count, 8_000).then(() => told.push(notice))
  wait('none', 0)
  wait('two', 2)
  wait('late', 1)
  await settled()
  t.same(told.splice(0), ['none'])
  await put(
    due({ notice: { id: 'two' } }),
    due({ notice: { id: 'two' }, attempts: 2 }),
    due({ account: v.parse(ids.accountId, 'bob'), notice: { id: 'two' } })
  )
  t.same(told, [])
  await put(due({ notice: { id: 'two' } }))
  t.same(told.splice(0), ['two'])
  clock.advance(7_999)
  await settled()
  t.same(told, [])
  clock.advance(1)
  await settled()
  t.same(told.splice(0), ['late'])
  wait('never', 1)
  await deliveries.close()
  await settled()
  t.same(told, ['never'])
  t.equal(clock.pending, 0)
})

t.test('notices older than thirty days are forgotten every hour, by one instance, while the clock is reliable', async t => {
  const { clock, forgotten, state, works } = openLane(t)
  const pass = async (ms: number) => {
    clock.advance(ms)
    for (let turns = 0; turns < 10; turns += 1) await settled()
    return forgotten.splice(0)
  }
  state.forgets = [500, 500, 499]
  t.same(await pass(hour - 1), [])
  const piece = { before: 1e12 + hour - 30 * 24 * hour, limit: 500 }
  t.same(await pass(1), [piece, piece, piece], 'as many as there are')
  t.same(new Set(works), new Set(['forget-notices']))
  state.mayRemove = false
  t.same(await pass(hour), [])
  state.mayRemove = true
  state.isClaimed = false
  t.same(await pass(hour), [])
  state.isClaimed = true
  t.equal((await pass(hour)).length, 1)
})
