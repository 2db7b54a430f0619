import t, { type Test } from 'tap'
import type { GivenOptions } from '../../../../lib/options.ts'
import type { ServerExtras } from '../../../../lib/server/create.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { next, type Person, signUp } from '../../../kit/person.ts'
import { startPushProvider } from '../../../kit/push-provider.ts'
import { startServer } from '../../../kit/server.ts'
import { listen } from '../../heard.ts'

const phone = 'ExponentPushToken[phone]'
const event = { kind: 'done', title: "It's ready!", body: 'salaries.xlsx', data: { sessionTitle: 'salaries', url: '/evil', tool: 'Bash' } }
const notRegistered = { status: 'error', message: 'not registered', details: { error: 'DeviceNotRegistered' } }

async function startWorld(t: Test, { tokens = [phone], ...options }: GivenOptions & ServerExtras & { tokens?: string[] } = {}) {
  const provider = await startPushProvider(t)
  const server = await startServer(t, { expoUrl: provider.url, ...options })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  for (const token of tokens) await ada.call('POST', '/v1/push-tokens', { body: { token } })
  const notify = async (body: object = event, who: Person = ada) =>
    (await who.call('POST', `/v1/sessions/${session}/push-event`, { body })).body
  return { provider, server, ada, session, notify }
}

async function tokensOf(person: Person): Promise<string[]> {
  const { body } = await person.call('GET', '/v1/push-tokens')
  return body.tokens.map(({ token }: { token: string }) => token).toSorted()
}

t.test('a phone is notified, and the provider learns nothing but fixed words and opaque ids [P1]', async t => {
  const { provider, session, notify } = await startWorld(t)
  t.same(await notify(), { success: true, result: 'sent', tokens: 1, delivered: 1 })
  const [{ path, messages } = { path: '', messages: [] }, ...more] = provider.requests
  const { ttl, ...message } = messages[0]
  t.same([path, messages.length, more], ['/--/api/v2/push/send', 1, []])
  t.ok(ttl > 43_000 && ttl <= 43_200, 'it is not worth being told half a day later')
  t.same(message, {
    to: phone,
    title: 'Your agent is done',
    body: 'Open the app to see it.',
    data: { sessionId: session, kind: 'done', url: `/session/${session}`, type: 'ready' },
    sound: 'default',
    channelId: 'messages'
  })
})

t.test('the end of a short turn causes no notification, unless the turn was started from the phone', async t => {
  const { provider, ada, notify } = await startWorld(t)
  const app = await ada.connect()
  const table = [
    [{ turnMs: 30_000 }, 'suppressed'],
    [{ turnMs: 0, startedFrom: 'terminal' }, 'suppressed'],
    [{ turnMs: 30_001, startedFrom: 'terminal' }, 'sent'],
    [{ turnMs: 5, startedFrom: 'phone' }, 'sent'],
    [{ startedFrom: 'terminal' }, 'sent'],
    [{}, 'sent'],
    [{ turnMs: 5, kind: 'permission' }, 'sent'],
    [{ turnMs: 5, kind: 'question' }, 'sent'],
    [{ turnMs: 5, kind: 'error' }, 'sent']
  ] as const
  for (const [fields, result] of table) {
    const told = next(app, 'ephemeral')
    const expected = result === 'sent' ? { result } : { result, reason: 'short-turn' }
    t.match(await notify({ ...event, ...fields }), expected, JSON.stringify(fields))
    t.match(await told, { type: 'session-event' }, 'the apps are told in any case')
  }
  t.equal(provider.requests.length, table.filter(([, result]) => result === 'sent').length)
})

t.test('every kind has its own fixed text, with nothing of the request [P1]', async t => {
  const { provider, notify } = await startWorld(t)
  const kinds = ['done', 'permission', 'question', 'error']
  for (const kind of kinds) await notify({ ...event, kind })
  const titles = provider.requests.map(({ messages }) => messages[0].title)
  t.equal(new Set(titles).size, kinds.length)
  t.notMatch(JSON.stringify(provider.requests), /salaries|ready!|evil|Bash/)
})

t.test('titles and texts are passed on only when the operator allows it, and nothing else ever is [P1]', async t => {
  const { provider, notify } = await startWorld(t, { pushTitles: true })
  await notify()
  t.match(provider.requests[0]?.messages[0], { title: "It's ready!", body: 'salaries.xlsx' })
  t.notMatch(JSON.stringify(provider.requests), /sessionTitle|evil|Bash/)
})

t.test('the apps and own sockets of the session get the event at once, others do not', async t => {
  const { server, ada, session, notify } = await startWorld(t)
  const app = await ada.connect()
  const own = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const other = listen(await ada.connect({ clientType: 'session-scoped', sessionId: await ada.openSession() }))
  const stranger = listen(await (await signUp(t, server)).connect())
  const heard = Promise.all([app, own].map(socket => next(socket, 'ephemeral')))
  await notify()
  for (const body of await heard) {
    t.match(body, {
      type: 'session-event',
      sessionId: session,
      kind: 'done',
      title: "It's ready!",
      body: 'salaries.xlsx',
      timestamp: Number
    })
  }
  for (const { settled } of [other, stranger]) await settled()
  t.same([other.ephemerals, stranger.ephemerals], [[], []])
})

t.test('notifications pause while an app of the account is in use, and resume afterwards', async t => {
  const { provider, server, ada, notify } = await startWorld(t)
  const suppressed = { success: true, result: 'suppressed', reason: 'active-ui-client' }
  const stranger = await (await signUp(t, server)).connect({ appState: 'active' })
  const wrapper = await ada.connect({ clientType: 'session-scoped', sessionId: await ada.openSession(), appState: 'active' })
  t.match(await notify(), { result: 'sent' }, `a stranger looks (${stranger.connected}), or a wrapper says so (${wrapper.connected})`)

  const unnamed = await ada.connect({ clientType: undefined, appState: 'active' })
  unnamed.emit('app-state', { state: 'active' })
  await unnamed.emitWithAck('ping')
  t.match(await notify(), { result: 'sent' }, 'who does not say to be an app is not looked at')
  const app = await ada.connect({ appState: 'active' })
  t.same(await notify(), suppressed)
  app.emit('app-state', { state: 'background' })
  await app.emitWithAck('ping')
  t.match(await notify(), { result: 'sent' })
  app.emit('app-state', { state: 'active' })
  await app.emitWithAck('ping')
  t.same(await notify(), suppressed)
  app.disconnect()
  // The server learns of its end a moment later.
  let outcome = await notify()
  while (outcome.result === 'suppressed') outcome = await notify()
  t.match(outcome, { result: 'sent' })
  t.equal(provider.requests.length, 4)
})

t.test('an app that does not report its state counts as not in use', async t => {
  const { ada, notify } = await startWorld(t)
  await ada.connect()
  t.match(await notify(), { result: 'sent' })
})

t.test('without a token nothing is sent', async t => {
  const { provider, notify } = await startWorld(t, { tokens: [] })
  t.same(await notify(), { success: true, result: 'no_tokens' })
  t.same(provider.requests, [])
})

t.test('a session of another account is answered as missing, and no one is notified [I1, I2]', async t => {
  const { provider, server, ada, notify } = await startWorld(t)
  const mallory = await signUp(t, server)
  await mallory.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[mallory]' } })
  const heard = listen(await ada.connect())
  t.same(await notify(event, mallory), { error: 'Session not found' })
  t.equal((await mallory.call('POST', '/v1/sessions/none/push-event', { body: event })).status, 404)
  await heard.settled()
  t.same([heard.ephemerals, provider.requests], [[], []])
})

t.test('input that violates the schema is rejected', async t => {
  const { ada, session } = await startWorld(t)
  const wrong = [{ kind: 'other' }, { title: '' }, { title: 'x'.repeat(201) }, { body: '' }, { body: 'x'.repeat(501) }, { data: 'x' }]
  for (const part of wrong) {
    const { status } = await ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { ...event, ...part } })
    t.equal(status, 400, JSON.stringify(Object.keys(part)))
  }
})

t.test('a device unknown to its provider is removed, and only there', async t => {
  const gone = 'ExponentPushToken[gone]'
  const { provider, server, ada, notify } = await startWorld(t, { tokens: [phone, gone] })
  const bob = await signUp(t, server)
  await bob.call('POST', '/v1/push-tokens', { body: { token: phone } })
  provider.ticketFor = token => (token === gone ? notRegistered : { status: 'ok', id: 'x' })
  t.same(await notify(), { success: true, result: 'partial', tokens: 2, delivered: 1, reason: 'gone' })
  t.same(await tokensOf(ada), [phone])
  t.same(await tokensOf(bob), [phone])
  t.same(await notify(), { success: true, result: 'sent', tokens: 1, delivered: 1 })
})

t.test('a ticket that failed for another reason keeps the token', async t => {
  const { provider, ada, notify } = await startWorld(t)
  provider.ticketFor = () => ({ status: 'error', message: 'too many', details: { error: 'MessageRateExceeded' } })
  t.same(await notify(), { success: true, result: 'failed', tokens: 1, delivered: 0, reason: 'refused' })
  t.same(await tokensOf(ada), [phone])
})

t.test('any text up to 4 KiB is stored as a token; an unknown kind is reported and does not delay others', async t => {
  const odd = ['not of any provider', 'x'.repeat(4096), 'ExponentPushToken[]']
  const { provider, ada, notify } = await startWorld(t, { tokens: odd })
  t.same(await notify(), { success: true, result: 'failed', tokens: 3, delivered: 0, reason: 'unknown' })
  t.same(provider.requests, [])
  t.same(await tokensOf(ada), odd.toSorted())
  await ada.call('POST', '/v1/push-tokens', { body: { token: phone } })
  t.same(await notify(), { success: true, result: 'partial', tokens: 4, delivered: 1, reason: 'unknown' })
})

t.test('more than a hundred tokens are sent in batches of a hundred', async t => {
  const tokens = Array.from({ length: 205 }, (_, number) => `ExponentPushToken[${number}]`)
  const { provider, notify } = await startWorld(t, { tokens })
  t.same(await notify(), { success: true, result: 'sent', tokens: 205, delivered: 205 })
  t.same(
    provider.requests.map(({ messages }) => messages.length),
    [100, 100, 5]
  )
  t.equal(new Set(provider.requests.flatMap(({ messages }) => messages.map(({ to }) => to))).size, 205)
})

t.test('a provider that is down is an outcome, not an error', async t => {
  const { provider, ada, notify } = await startWorld(t)
  await provider.close()
  t.same(await notify(), { success: true, result: 'failed', tokens: 1, delivered: 0, reason: 'unreachable' })
  t.same(await tokensOf(ada), [phone])
})

t.test('a provider that does not answer is abandoned after 8 s in total', async t => {
  const clock = manualClock()
  const { provider, notify } = await startWorld(t, { clock })
  provider.answer = () => 'never'
  const came = provider.next()
  const outcome = notify()
  await came
  clock.advance(7_999)
  const isStillWaiting = await Promise.race([outcome.then(() => false), notifyNothing().then(() => true)])
  t.ok(isStillWaiting)
  clock.advance(1)
  t.same(await outcome, { success: true, result: 'failed', tokens: 1, delivered: 0, reason: 'late' })
})

t.test('provider answers are validated', async t => {
  const { provider, notify } = await startWorld(t, { tokens: [phone, 'ExponentPushToken[tablet]'] })
  const answers: [what: string, status: number, text: string][] = [
    ['an error of its own', 500, '{"errors":[]}'],
    ['no JSON', 200, '<html>'],
    ['another shape', 200, '{"data":{"status":"ok"}}'],
    ['no end of text', 200, `{"data":["${'x'.repeat(1_000_000)}"]}`]
  ]
  for (const [what, status, text] of answers) {
    provider.answer = () => ({ status, text })
    t.same(await notify(), { success: true, result: 'failed', tokens: 2, delivered: 0, reason: 'refused' }, what)
  }
  provider.answer = () => ({ status: 200, text: '{"data":[{"status":"ok","id":"1"}]}' })
  t.same(await notify(), { success: true, result: 'partial', tokens: 2, delivered: 1, reason: 'refused' }, 'fewer tickets than tokens')
})

t.test('an embedder can deliver itself, and its errors are reported without other effect', async t => {
  const sent: unknown[] = []
  const met: unknown[] = []
  const { notify } = await startWorld(t, {
    push: async (notice, tokens) => {
      sent.push({ ...notice, tokens })
      if (notice.kind === 'error') throw new Error('No such luck')
      return tokens.map(token => ({ token, outcome: 'delivered' }))
    },
    onError: error => met.push(error)
  })
  t.match(await notify(), { result: 'sent' })
  t.match(sent, [{ kind: 'done', title: 'Your agent is done', tokens: [phone] }])
  t.match(await notify({ ...event, kind: 'error' }), { result: 'failed', reason: 'unreachable' })
  t.match(met, [{ message: 'No such luck' }])
})

t.test('when off, nothing is passed on', async t => {
  const { provider, notify } = await startWorld(t, { expoUrl: 'off' })
  t.match(await notify(), { result: 'failed', reason: 'unknown' })
  t.same(provider.requests, [])
})

function notifyNothing(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
