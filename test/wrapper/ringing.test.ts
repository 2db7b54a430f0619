import t, { type Test } from 'tap'
import { pause } from '../../lib/async/pause.ts'
import { sealCall } from '../../lib/client/sealed/call-seals.ts'
import { openPreview } from '../../lib/client/sealed/previews.ts'
import { accountVault } from '../../lib/client/sealed/vault.ts'
import { openHome } from '../../lib/wrapper/home/credentials.ts'
import { listSessions } from '../../lib/wrapper/home/session-folder.ts'
import { recoverSessions } from '../../lib/wrapper/session/recovery.ts'
import { fetch } from '../../lib/wrapper/uplink/network.ts'
import { signUp } from '../kit/person.ts'
import { startServer, startServerProcess } from '../kit/server.ts'
import { openTcpProxy } from '../kit/tcp-proxy.ts'
import { browser, startStandIn, tokenOf } from '../server/push/stand-in.ts'
import { linkedComputer } from './kit/world.ts'
import { runWrapper } from './kit/wrapper.ts'

/** A computer behind a line that can be cut, on which the demo runs, and a watch that rings over ntfy. */
async function startWorld(t: Test) {
  const server = await startServer(t, { pushAllow: 'loopback' })
  const line = await openTcpProxy(t, server.url)
  const { phone, home } = await linkedComputer(t, line)
  const ada = await signUp(t, server, phone.secret)
  const watch = await startStandIn(t)
  const wrapper = runWrapper(t, { home, args: ['demo'] })
  const session = await phone.session()
  await ada.call('POST', '/v1/push-tokens', { body: { token: tokenOf('Ntfy', { url: `${watch.url}/watch` }) } })
  const rang = () => watch.requests.map(({ method, headers }) => (method === 'DELETE' ? 'cleared' : String(headers['title'])))
  const kept = () => listSessions(home)[0]?.notes.notices ?? []
  const until = async (when: () => boolean) => {
    while (!when()) await pause(20)
  }
  /** The agent asks while nobody can be reached. */
  const askWhileCut = async () => {
    const growing = session.until(session => session.partials.length > 0)
    await session.say('SCRIPT: slow 2500 one two three four five six; tool write {"path":"old.txt","content":"x"}')
    await growing
    await line.closePort()
    line.cut()
    await until(() => kept().some(({ kind }) => kind === 'permission'))
  }
  return { server, line, phone, home, ada, watch, wrapper, session, rang, kept, until, askWhileCut }
}

/** How long nobody can be reached: with AFIELD_CUT_SECONDS=60 as long as a tunnel. */
const stayAway = () => pause(Number(process.env['AFIELD_CUT_SECONDS'] ?? 0) * 1000)

t.test('a request made while disconnected rings once after reconnecting, and is cleared once answered [W15]', async t => {
  const { line, watch, session, rang, kept, askWhileCut } = await startWorld(t)
  await askWhileCut()
  await stayAway()
  t.match(kept(), [{ kind: 'permission', isSent: false }])
  t.same(rang(), [])
  await line.openPort()
  await watch.came(1)
  t.same(rang(), ['Your agent needs a decision'])
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length > 0)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  await session.call('permission', { id, approved: true })
  await watch.came(2)
  t.same(rang().slice(0, 2), ['Your agent needs a decision', 'cleared'])
})

t.test('a wrapper killed while it asks is reported once, and its question no longer rings [W15]', async t => {
  const { line, home, watch, wrapper, rang, askWhileCut } = await startWorld(t)
  await askWhileCut()
  await stayAway()
  await wrapper.kill()
  await line.openPort()
  const own = openHome({ AFIELD_HOME: home })
  for (const expected of [1, 0]) t.match(await recoverSessions({ home: own, fetch, withinMs: 30_000 }), { found: expected })
  await watch.came(1)
  t.same(rang(), ['A session stopped'])
})

t.test('a request that ends before the reconnect does not ring [W15]', async t => {
  const { line, watch, session, wrapper, kept, until, askWhileCut } = await startWorld(t)
  await askWhileCut()
  // Ctrl-C at the computer stops the turn, and what it asked.
  wrapper.child.kill('SIGINT')
  await until(() => kept().every(({ isOver }) => isOver))
  await stayAway()
  await line.openPort()
  await session.until(({ state }) => Object.keys(state.completedRequests ?? {}).length > 0)
  await until(() => kept().length === 0)
  t.same(watch.requests, [])
})

t.test('a request made while the server is down rings once when it is back [W15, P6]', async t => {
  const args = ['--push-allow', 'loopback', '--expo-url', 'off']
  const server = await startServerProcess(t, { args })
  const { phone, home } = await linkedComputer(t, server)
  const ada = await signUp(t, server, phone.secret)
  const watch = await startStandIn(t)
  await ada.call('POST', '/v1/push-tokens', { body: { token: tokenOf('Ntfy', { url: `${watch.url}/watch` }) } })
  runWrapper(t, { home, args: ['demo'] })
  const session = await phone.session()
  const growing = session.until(session => session.partials.length > 0)
  await session.say('SCRIPT: slow 2500 one two three four five six; tool write {"path":"old.txt","content":"x"}')
  await growing
  await server.kill()
  while (!listSessions(home)[0]?.notes.notices?.some(({ kind }) => kind === 'permission')) await pause(20)
  await stayAway()
  t.same(watch.requests, [])
  await startServerProcess(t, { data: server.data, args, port: Number(new URL(server.url).port) })
  await watch.came(1)
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length > 0)
  t.same(
    watch.requests.map(({ headers }) => headers['title']),
    ['Your agent needs a decision']
  )
})

t.test('a wrapper killed after ringing settles the notice, and says that the session stopped [W15]', async t => {
  const { home, watch, wrapper, session, rang } = await startWorld(t)
  await session.say('SCRIPT: tool write {"path":"old.txt","content":"x"}')
  await watch.came(1)
  await wrapper.kill()
  await recoverSessions({ home: openHome({ AFIELD_HOME: home }), fetch, withinMs: 30_000 })
  await watch.came(3)
  t.same(rang().toSorted(), ['A session stopped', 'Your agent needs a decision', 'cleared'])
})

t.test('a session ended by its person does not ring', async t => {
  const { wrapper, session, rang, kept } = await startWorld(t)
  await session.say('SCRIPT: text hello')
  await session.call('killSession', {})
  await wrapper.ended
  t.same(kept(), [])
  t.notMatch(rang(), ['A session stopped'])
})

t.test('a device with previews can decrypt the request with only its account key, and answer it', async t => {
  const { server, ada, phone, watch, session } = await startWorld(t)
  const device = browser()
  const tab = await signUp(t, server, phone.secret)
  const service = await startStandIn(t)
  await tab.call('POST', '/v1/push-tokens', { body: { token: tokenOf('WebPush', { endpoint: `${service.url}/push`, keys: device.keys }) } })
  await tab.call('PUT', '/v1/notifications', { body: { settings: { previews: true } } })
  await session.say('SCRIPT: tool exec {"command":"git status"}')
  const [request] = await service.came(1)
  const { data } = device.open(request?.body ?? Buffer.alloc(0)).notification
  const place = { session: session.id, notice: data.notice }
  const opened = openPreview(accountVault(phone.secret), data.preview ?? '', place)
  // The notice can be here before the state that it speaks of.
  await session.until(({ state }) => Object.keys(state.requests ?? {}).length === 1)
  const [id = ''] = Object.keys(session.state.requests ?? {})
  const { shown } = session.state.requests?.[id] ?? {}
  t.match(opened?.preview, { title: String, asks: { type: 'permission', id, shown, kind: 'execute', text: 'git status', mayAllow: true } })
  t.same(openPreview(accountVault(phone.secret), data.preview ?? '', { ...place, session: 'another' }), undefined)
  t.same(openPreview(accountVault(new Uint8Array(32)), data.preview ?? '', place), undefined)
  t.notMatch(JSON.stringify([watch.requests, request?.headers, data]), /git status/)

  const about = { target: session.id, method: 'permission', call: 'one' }
  const params = opened && sealCall(opened.cipher, about, { id, approved: false, decision: 'denied', shown })
  const { body } = await ada.call('POST', '/v1/calls', { body: { method: `${session.id}:permission`, params } })
  t.match(body, { result: String })
  await session.until(({ state }) => state.completedRequests?.[id]?.status === 'denied')
})
