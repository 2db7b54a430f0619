import { once } from 'node:events'
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { notify, openPushChannels } from '../../../lib/wrapper/account/notifications.ts'
import { openHome } from '../../../lib/wrapper/home/credentials.ts'
import { typed } from '../../../lib/wrapper/home/own-process.ts'
import { createSessionFolder } from '../../../lib/wrapper/home/session-folder.ts'
import { next, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { startStandIn } from '../../server/push/stand-in.ts'
import { asking } from '../kit/asking.ts'
import { demo } from '../kit/demo.ts'
import { linkedComputer } from '../kit/world.ts'
import { runWrapper } from '../kit/wrapper.ts'

t.test('a person notifies the phone from the command line, on behalf of the running session', async t => {
  const { server, phone, home, session, wrapper } = await demo(t)
  await wrapper.says(/ live\n/)
  const app = await signUp(t, server, phone.secret)
  const told = next(await app.connect(), 'ephemeral', ({ type }) => type === 'session-event')
  const notify = runWrapper(t, { home, args: ['notify', 'The', 'build', 'has ended'] })
  t.match(await told, { sessionId: session.id, body: 'The build has ended' })
  t.equal(await notify.ended, 0, notify.output)
  t.match(notify.output, /phone/)

  const strange = runWrapper(t, { home, args: ['notify', 'hi', '--session', 'nobody'] })
  t.equal(await strange.ended, 78)
  t.match(strange.output, /has no session nobody/)
})

t.test('a computer adds ntfy and a webhook, tests them, sees what arrived, and removes one', async t => {
  const server = await startServer(t, { pushAllow: 'loopback' })
  const { home } = await linkedComputer(t, server)
  const service = await startStandIn(t)
  const push = async (...args: string[]) => {
    const wrapper = runWrapper(t, { home, args: ['push', ...args] })
    return { code: await wrapper.ended, output: wrapper.output }
  }
  t.match(await push(), { code: 0, output: /No device gets notifications yet/ })
  t.match(await push('test'), { code: 78, output: /No device gets notifications yet/ })
  t.match(await push('add', 'pigeon', 'coop'), { code: 78, output: /Add what\? For example:\n {2}.* push add ntfy/ })
  t.match(await push('add', 'ntfy', 'ftp://nowhere'), { code: 78, output: /is not a web address/ })

  t.match(await push('add', 'ntfy', `${service.url}/mine`, '--ntfy-token', 'a b'), {
    code: 1,
    output: /rejected the request: it cannot use this address or token/
  })
  t.match(await push('add', 'ntfy', `${service.url}/mine`), { code: 0, output: /Added\./ })
  const hook = await push('add', 'webhook', `${service.url}/hook`)
  t.match(hook, { code: 0, output: /shown only once:\n {2}whsec_/ })
  service.answer = ({ path }) => ({ status: path === '/hook' ? 403 : 200 })
  t.match(await push('test'), { code: 1, output: /1 {2}ntfy: handed over\n {2}2 {2}webhook: refused \(HTTP 403\)/ })
  t.match(await push('test', '1'), { code: 0, output: /1 {2}ntfy: handed over/ })
  t.same(service.requests.map(({ path }) => path).toSorted(), ['/hook', '/mine', '/mine'])

  const shown = (await push()).output
  t.match(shown, /1 +ntfy +\S.* 2 +unknown +20\d\d-.* handed over/)
  t.notMatch(shown, service.url, 'where a channel leads is not shown')
  t.match(await push('remove'), { code: 78, output: /Which one\?/ })
  t.match(await push('remove', '9'), { code: 78, output: /There is no channel 9/ })
  t.match(await push('remove', '2'), { code: 0, output: /Removed/ })
  t.notMatch((await push()).output, /webhook/)
})

t.test('what became of a notification is told in words, and none that reached nobody counts as sent', async t => {
  const { home, url, answer } = await linkedTo(t)
  const { terminal, shown } = asking([])
  const send = (session?: string) => notify({ home, server: url, env: {}, terminal, text: 'Done', session })
  const whyNone = (why: string) => ({
    exitCode: 78,
    message: `${why}, and a notification must belong to one. List them with:\n  ${typed('sessions')}`
  })
  await t.rejects(send(), whyNone('No session has run on this computer yet'))
  const sessionOf = (tag: string, server: string) => {
    const metadata = { path: home.path, host: 'here' }
    return createSessionFolder(home.path, { tag, id: `id-of-${tag}`, server, key: null, metadata, cursor: 0, turn: null })
  }
  sessionOf('other', 'http://other').retire()
  await t.rejects(send(), whyNone('No session has run on this computer yet'))
  await t.rejects(send('id-of-other'), whyNone('This computer has no session id-of-other'))
  const running = sessionOf('running', url)
  t.teardown(() => running.remove())
  sessionOf('ended', url).retire()
  for (const [result, words] of [
    ['sent', 'Your phone was notified.'],
    ['partial', 'Some of your phones were notified.'],
    ['suppressed', 'Your phone was not notified: you are using the app.'],
    ['no_tokens', 'No phone is set up for notifications yet; an open app was notified.']
  ] as const) {
    answer.body = { success: true, result }
    t.equal(await send(), 0)
    t.ok(shown().endsWith(`${words}\n`), result)
  }
  t.strictSame(answer.asked.at(-1), ['POST', '/v1/sessions/id-of-running/push-event', { kind: 'done', title: 'Afield', body: 'Done' }])
  await send('id-of-ended')
  t.equal(answer.asked.at(-1)?.[1], '/v1/sessions/id-of-ended/push-event')
  const before = shown()
  answer.body = { success: true, result: 'failed' }
  await t.rejects(send(), { exitCode: 1, message: `No phone could be notified. See why with:\n  ${typed('push')}` })
  t.equal(shown(), before)
})

t.test('the channels are numbered from the oldest, and a server that refuses or is away is explained', async t => {
  const { home, url, answer, close } = await linkedTo(t)
  const channels = openPushChannels({ home, server: url, env: {} })
  const health = { sent: 0, arrived: 0, typicalMs: null, slowestMs: null, last: [] }
  const about = { kind: 'ntfy', isOwn: true, device: null, updatedAt: 9, acknowledges: false, health }
  const channel = (id: string, createdAt: number) => ({ ...about, id, createdAt })
  answer.body = { settings: null, channels: [channel('new', 3), channel('old', 1), channel('later', 2)] }
  t.strictSame(
    (await channels.list()).map(({ id }) => id),
    ['old', 'later', 'new']
  )
  answer.body = { channels: [] }
  await channels.test()
  t.strictSame(answer.asked.at(-1), ['POST', '/v1/notifications/test', {}])
  await channels.test({ id: 'old' } as never)
  t.strictSame(answer.asked.at(-1), ['POST', '/v1/notifications/test', { channel: 'old' }])
  answer.body = { error: 'no' }
  const cases: [status: number, message: string][] = [
    [400, 'The server rejected the request: it cannot use this address or token.'],
    [404, 'The server rejected the request: it has no such channel, or is too old for notification channels.'],
    [401, `This computer is no longer linked to your account on ${url}. Link it again with:\n  ${typed('login')}`]
  ]
  for (const [status, message] of cases) {
    answer.status = status
    await t.rejects(channels.list(), { exitCode: 1, message })
  }
  await close()
  const { host } = new URL(url)
  const away = `Nothing is listening at ${host} (ECONNREFUSED). Try again later, or find the problem with:\n  ${typed('doctor')}`
  await t.rejects(channels.list(), { exitCode: 1, message: away })
  const metadata = { path: home.path, host: 'here' }
  createSessionFolder(home.path, { tag: 'one', id: 'one', server: url, key: null, metadata, cursor: 0, turn: null }).retire()
  const { terminal } = asking([])
  const sent = notify({ home, server: undefined, env: { AFIELD_SERVER: url }, terminal, text: 'Done', session: undefined })
  await t.rejects(sent, { exitCode: 1, message: away })
})

/** A computer that is linked to a server with these answers. */
async function linkedTo(t: Test) {
  const answer = { status: 200, body: {} as object, asked: [] as [string | undefined, string | undefined, unknown][] }
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    answer.asked.push([request.method, request.url, body === '' ? undefined : JSON.parse(body)])
    response.writeHead(answer.status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  t.teardown(close)
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' && address?.port}`
  const home = openHome({ AFIELD_HOME: t.testdir() })
  home.saveCredentials({ server: url, token: 'a', keys: { version: 1, secret: new Uint8Array(32) } })
  return { home, url, answer, close }
}
