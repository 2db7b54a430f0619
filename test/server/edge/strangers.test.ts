import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Strangers } from '../../../lib/server/edge/strangers.ts'
import { signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { ask, openPolling } from '../raw-polling.ts'
import { openAccepted, openWebSocket } from '../raw-websocket.ts'

const socketsPerAddress = 64
const limits = 'default'

/** The head of a frame that says so many bytes will come. */
function announce(bytes: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x81
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(bytes), 2)
  return head
}

t.test('a stranger’s large packet is not collected: the connection ends when the packet is announced [N2, B1]', async t => {
  const server = await startServer(t, { limits })
  const web = await openWebSocket(t, server)
  web.sendBytes(announce(65 * 1024))
  t.equal(await web.ended(), undefined)
  const parts = await openWebSocket(t, server)
  for (let part = 0; part < 3; part += 1) parts.sendFrame({ opcode: part === 0 ? 1 : 0, fin: false, payload: Buffer.alloc(30_000, 'x') })
  t.equal(await parts.ended(), undefined, 'nor in parts')
})

t.test('where a good token came from, large packets are taken [N2]', async t => {
  const server = await startServer(t, { limits })
  const ada = await signUp(t, server)
  await ada.call('GET', '/v1/account/profile')
  const web = await openAccepted(t, server, { token: ada.token })
  web.send(`421["update-state",${JSON.stringify({ sid: 'x', agentState: 'a'.repeat(1_000_000), expectedVersion: 0 })}]`)
  t.match(await web.next(), /^431/)
})

t.test('a token that is no good makes nobody known [N2]', async t => {
  const server = await startServer(t, { limits })
  await ask(server, '/v1/account/profile', { headers: { authorization: 'Bearer nobody' } })
  const web = await openWebSocket(t, server)
  web.sendBytes(announce(65 * 1024))
  t.equal(await web.ended(), undefined)
})

t.test('one address has few connections, whatever they travel by; what it has goes on [N8]', async t => {
  const server = await startServer(t, { limits })
  const ada = await signUp(t, server)
  const own = await ada.connect()
  const waiting = []
  for (let count = 2; count < socketsPerAddress; count += 1) waiting.push(await openWebSocket(t, server))
  const polling = await openPolling(server)
  await t.rejects(openWebSocket(t, server), /429/)
  t.match(await ask(server, '/v1/updates/?EIO=4&transport=polling'), { status: 429 })
  t.same(await own.emitWithAck('ping'), {})
  t.equal((await ada.call('GET', '/v1/account/profile')).status, 200)

  const first = waiting[0]
  await first?.next()
  first?.send(`40${JSON.stringify({ token: ada.token })}`)
  t.match(await first?.next(), /^40/, 'who was in time is let in')
  await polling.post('1')
  await openWebSocket(t, server)
  await t.rejects(openWebSocket(t, server), /429/, 'and one place is free again')
})

t.test('another network is not kept out by them [N8]', async t => {
  const server = await startServer(t, { limits })
  for (let count = 0; count < socketsPerAddress; count += 1) await openWebSocket(t, server)
  const elsewhere = await openFrom(t, server, '127.0.2.1')
  elsewhere.write('GET /v1/updates/?EIO=4&transport=polling HTTP/1.1\r\nHost: localhost\r\n\r\n')
  t.match(String((await once(elsewhere, 'data'))[0]), /^HTTP\/1\.1 200 /)
})

t.test('all together are few, and the list of known places has an end [N8]', async t => {
  const strangers = new Strangers({ limits })
  const all = Array.from({ length: 512 }, (_, number) => strangers.come(`${number}`))
  t.equal(strangers.come('new'), undefined)
  all[0]?.left()
  all[0]?.left()
  t.ok(strangers.come('new'))
  t.equal(strangers.come('newer'), undefined, 'leaving twice frees one place')
  all[1]?.signedIn()
  t.ok(strangers.come('newer'), 'who signed in is no stranger')
  strangers.know('first')
  for (let number = 0; number < 10_000; number += 1) strangers.know(`${number}`)
  t.notOk(strangers.isKnown('first'))
  t.ok(strangers.isKnown('9999'))
})

async function openFrom(t: Test, server: { port: number }, localAddress: string): Promise<Socket> {
  const socket = connect({ port: server.port, host: '127.0.0.1', localAddress })
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}
