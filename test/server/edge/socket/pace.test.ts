import { once } from 'node:events'
import t from 'tap'
import { Pace } from '../../../../lib/server/edge/socket/pace.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { openAcceptedPolling } from '../../raw-polling.ts'
import { openAccepted } from '../../raw-websocket.ts'

const megabyte = 1024 * 1024

t.test('200 packets a second are allowed, at once or spread, and rejected ones cost nothing of the next second [B5]', async t => {
  const clock = manualClock()
  const pace = new Pace({ clock, limits: 'default' })
  const take = (count: number) => new Set(Array.from({ length: count }, () => pace.take(10)))
  t.same(take(2_000), new Set(['within']))
  t.same(take(50), new Set(['over']))
  clock.advance(1_000)
  t.same(take(200), new Set(['within']))
  t.same(take(100), new Set(['over']))
  t.same(take(1), new Set(['far-over']))
})

t.test('128 MiB in 10 s are allowed, and not a byte more [B5]', async t => {
  const clock = manualClock()
  const pace = new Pace({ clock, limits: 'default' })
  t.equal(pace.take(100 * megabyte), 'within')
  t.equal(pace.take(28 * megabyte), 'within')
  t.equal(pace.take(1), 'far-over')
})

t.test('without limits no rate is rejected', async t => {
  const pace = new Pace({ clock: manualClock(), limits: 'off' })
  for (let packet = 0; packet < 10_000; packet += 1) t.equal(pace.take(megabyte), 'within')
})

t.test('after a long silence the full burst is available again, and not more [B5]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { limits: 'default', clock })
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  const refusedOf = async (count: number) => {
    let refused = 0
    for (let ack = 1; ack <= count; ack += 1) web.send(`42${ack}["update-state",{}]`)
    for (let ack = 1; ack <= count; ack += 1) if ((await web.next())?.includes('Too many messages at once')) refused += 1
    return refused
  }
  t.equal(await refusedOf(2_010), 10)
  clock.advance(10_000)
  web.send('3')
  t.equal(await refusedOf(2_010), 10)
})

t.test('excess events are rejected with an answer, then the connection is closed with 4029 [B5]', async t => {
  const server = await startServer(t, { limits: 'default', clock: manualClock() })
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  const answers: string[] = []
  for (let ack = 1; ack <= 2_200; ack += 1) web.send(`42${ack}["update-state",{}]`)
  for (let text = await web.next(); text !== undefined; text = await web.next()) answers.push(text)
  t.equal(await web.ended(), 4029)
  const refusals = answers.filter(answer => answer.includes('Too many messages at once'))
  t.equal(refusals.length, 100)
  t.match(answers.at(-1), /^43\d+\[\{"result":"error","message":"Too many messages at once"\}\]$/)
})

t.test('an event without an acknowledgement is never silently dropped: its connection is closed [B5]', async t => {
  const server = await startServer(t, { limits: 'default', clock: manualClock() })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const web = await openAccepted(t, server, { token: ada.token })
  for (let number = 1; number <= 2_010; number += 1) {
    web.send(`42${JSON.stringify(['message', { sid: session, message: 'eA==', localId: `${number}` }])}`)
  }
  t.equal(await web.ended(), 4029)
  // What was taken before the first that was over is stored, also after the end. The handshake came alone, and such a packet is free.
  const read = async (after: number) => (await ada.call('GET', `/v3/sessions/${session}/messages?after_seq=${after}`)).body.messages
  while ((await read(1_999)).length === 0);
  t.equal((await read(2_000)).length, 0)
})

t.test('polling has the same rate, and noops count too [B5]', async t => {
  const server = await startServer(t, { limits: 'default', clock: manualClock() })
  const ada = await signUp(t, server)
  const polling = await openAcceptedPolling(server, { token: ada.token })
  t.equal((await polling.post(Array(2_200).fill('6').join('\x1e'))).status, 400)
  const real = await ada.connect()
  t.same(await real.emitWithAck('ping'), {}, 'nobody else is held to it')
})

t.test('with the real clock an honest client is never told to slow down', async t => {
  const server = await startServer(t, { limits: 'default' })
  const ada = await signUp(t, server)
  const socket = await ada.connect()
  socket.once('disconnect', reason => t.fail(reason))
  const left = once(socket as never, 'disconnect')
  await Promise.all(Array.from({ length: 1_000 }, () => socket.emitWithAck('ping')))
  socket.off('disconnect').disconnect()
  await Promise.race([left, Promise.resolve()])
})
