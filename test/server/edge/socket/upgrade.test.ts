import t, { type Test } from 'tap'
import type { Server } from '../../../../lib/server/create.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { ask, openAcceptedPolling, openPolling, type RawPolling, seqsIn } from '../../raw-polling.ts'
import { openWebSocket, type RawWebSocket } from '../../raw-websocket.ts'

const unknown = { code: 1, message: 'Session ID unknown' }
const bad = { code: 3, message: 'Bad request' }

async function probed(t: Test, polling: RawPolling): Promise<RawWebSocket> {
  const web = await polling.openWebSocket(t)
  web.send('2probe')
  t.equal(await web.next(), '3probe')
  return web
}

async function answers(t: Test, web: RawWebSocket): Promise<void> {
  web.send('427["ping"]')
  t.equal(await web.next(), '437[{}]')
}

async function pollsOn(t: Test, polling: RawPolling): Promise<void> {
  const poll = polling.packets()
  t.equal((await polling.post('429["ping"]')).text, 'ok')
  t.same(await poll, ['439[{}]'], 'a poll waits again')
}

async function accepted(t: Test, options: { clock?: ReturnType<typeof manualClock> } = {}) {
  const server = await startServer(t, options)
  const ada = await signUp(t, server)
  return { server, ada, polling: await openAcceptedPolling(server, { token: ada.token }) }
}

t.test('a connection upgrades from polling to WebSocket', async t => {
  const { polling } = await accepted(t)
  const web = await probed(t, polling)
  t.same(await polling.packets(), ['6'], 'no poll is kept waiting meanwhile')
  web.send('5')
  await answers(t, web)
})

t.test('a waiting poll ends once the WebSocket probe succeeds', async t => {
  const { server, polling } = await accepted(t)
  const poll = polling.packets()
  await ask(server, '/health')
  const web = await probed(t, polling)
  t.same(await poll, ['6'])
  web.send('5')
  await answers(t, web)
})

t.test('the whole Socket.IO handshake may follow the upgrade', async t => {
  const server = await startServer(t)
  const { token } = await signUp(t, server)
  const polling = await openPolling(server)
  const web = await probed(t, polling)
  web.send('5')
  web.send(`40${JSON.stringify({ token })}`)
  t.match(await web.next(), /^40\{"sid"/)
})

t.test('unpolled messages arrive first over the WebSocket, then later ones', async t => {
  const { ada, polling } = await accepted(t)
  const session = await ada.openSession()
  await polling.packets()
  const web = await probed(t, polling)
  await ada.send(session, { localId: 'a' })
  t.same(seqsIn(await polling.packets()), [1], 'polling goes on while it is tried')
  await ada.send(session, { localId: 'b' })
  await ada.send(session, { localId: 'c' })
  web.send('5')
  await ada.send(session, { localId: 'd' })
  const heard = [await web.next(), await web.next(), await web.next()]
  t.same(seqsIn(heard.map(text => text ?? '')), [2, 3, 4])
})

t.test('polling requests for an upgraded connection are rejected, and do no harm', async t => {
  const { polling } = await accepted(t)
  const web = await probed(t, polling)
  web.send('5')
  await answers(t, web)
  for (const { status, text } of [await polling.get(), await polling.post('1'), await polling.post('broken')]) {
    t.same([status, JSON.parse(text)], [400, bad])
  }
  await answers(t, web)
})

t.test('a second WebSocket for the same connection is closed, and the first continues', async t => {
  const { polling } = await accepted(t)
  const web = await probed(t, polling)
  const early = await polling.openWebSocket(t)
  t.equal(await early.ended(), 4400)
  web.send('5')
  await answers(t, web)
  const late = await polling.openWebSocket(t)
  late.send('2probe')
  t.equal(await late.ended(), 4400)
  t.same(late.texts, [])
  await answers(t, web)
})

const abuses: [packets: (string | Uint8Array)[], what: string][] = [
  [['5'], 'a change without a probe'],
  [['2'], 'a ping'],
  [['2other'], 'another probe'],
  [['3probe'], 'the answer to a probe'],
  [['421["ping"]'], 'an event'],
  [['1'], 'a goodbye'],
  [[''], 'nothing'],
  [[new Uint8Array([1])], 'bytes'],
  [['2probe', '2probe'], 'two probes'],
  [['2probe', '421["ping"]'], 'an event after the probe'],
  [['2probe', new Uint8Array([1])], 'bytes after the probe']
]

t.test('a WebSocket that sends anything but an upgrade request is closed, the connection is not [N5]', async t => {
  const { polling } = await accepted(t)
  for (const [packets, what] of abuses) {
    const web = await polling.openWebSocket(t)
    for (const packet of packets) web.send(packet, typeof packet === 'string' ? 'text' : 'binary')
    t.equal(await web.ended(), 4400, what)
    await pollsOn(t, polling)
  }
  const web = await probed(t, polling)
  web.send('5')
  await answers(t, web)
})

t.test('a WebSocket that does not upgrade within 10 s is closed, and polling continues', async t => {
  const clock = manualClock()
  const { polling } = await accepted(t, { clock })
  const web = await probed(t, polling)
  clock.advance(10_000)
  t.equal(await web.ended(), 4003)
  await pollsOn(t, polling)
  const again = await probed(t, polling)
  again.send('5')
  await answers(t, again)
  clock.advance(10_000)
  t.equal(await again.next(), '2', 'only a ping comes of it')
  await answers(t, again)
})

t.test('a closing connection closes its WebSocket, probed or upgraded', async t => {
  const { server, ada, polling } = await accepted(t)
  const tried = await probed(t, polling)
  await polling.post('1')
  t.equal(await tried.ended(), 1000)

  const second = await openAcceptedPolling(server, { token: ada.token })
  const web = await probed(t, second)
  web.send('5')
  web.send('1')
  t.equal(await web.ended(), 1000)
  t.same(JSON.parse((await second.get()).text), unknown)
})

t.test('one heartbeat continues through the upgrade', async t => {
  const clock = manualClock()
  const { polling } = await accepted(t, { clock })
  const web = await probed(t, polling)
  web.send('5')
  await answers(t, web)
  clock.advance(16_000)
  t.equal(await web.next(), '2')
  clock.advance(46_000)
  t.equal(await web.ended(), 4002)
})

t.test('a WebSocket for an unknown session id is rejected', async t => {
  const server: Server = await startServer(t)
  const web = await openWebSocket(t, server)
  const { sid } = JSON.parse((await web.next())?.slice(1) ?? '')
  for (const name of ['abc', '', 'constructor', sid]) {
    const query = `EIO=4&transport=websocket&sid=${name}`
    await t.rejects(openWebSocket(t, server, query), { message: /400 Bad Request.*Session ID unknown/s })
  }
})
