import fc from 'fast-check'
import t from 'tap'
import { maxPacketBytes } from '../../../../lib/protocol/wire/handshake.ts'
import { PacketReader } from '../../../../lib/server/edge/socket/packet-reader.ts'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { openAccepted } from '../../raw-websocket.ts'

const [one, two] = [Buffer.from([1, 2, 3]), Buffer.from([4, 5, 6])]

t.test('an event gets the bytes that follow it, each at its placeholder', async t => {
  const reader = new PacketReader()
  t.equal(reader.read('52-["x",{"a":[{"_placeholder":true,"num":1}],"b":{"_placeholder":true,"num":0}}]'), 'more')
  t.equal(reader.read(one), 'more')
  t.same(reader.read(two), { type: 'event', ackId: undefined, name: 'x', payload: { a: [two], b: one } })
  t.same(reader.read('2["x",{"_placeholder":true,"num":0}]'), {
    type: 'event',
    ackId: undefined,
    name: 'x',
    payload: { _placeholder: true, num: 0 }
  })
})

t.test('so does an acknowledgement, and an event that requests one', async t => {
  const reader = new PacketReader()
  t.equal(reader.read('61-12[{"_placeholder":true,"num":0}]'), 'more')
  t.same(reader.read(one), { type: 'ack', ackId: 12, reply: one })
  t.equal(reader.read('51-/,7["x",{"_placeholder":true,"num":0}]'), 'more')
  t.same(reader.read(two), { type: 'event', ackId: 7, name: 'x', payload: two })
})

t.test('a placeholder cannot reach inherited properties of a list or object', async t => {
  const reader = new PacketReader()
  reader.read('51-["x",{"__proto__":{"_placeholder":true,"num":0}}]')
  const packet = reader.read(one)
  const payload = packet !== 'more' && packet?.type === 'event' ? packet.payload : undefined
  t.equal(Object.getPrototypeOf(payload), Object.prototype)
})

t.test('bytes without an announcement, and text before announced bytes, are rejected [N6]', async t => {
  t.equal(new PacketReader().read(one), undefined)
  const reader = new PacketReader()
  reader.read('51-["x",{"_placeholder":true,"num":0}]')
  t.equal(reader.read('2["ping"]'), undefined)
  const full = new PacketReader()
  full.read('51-["x",{"_placeholder":true,"num":0}]')
  full.read(one)
  t.equal(full.read(one), undefined, 'one more than announced')
})

t.test('all attachments of a packet together are limited to one packet', async t => {
  const reader = new PacketReader()
  reader.read('52-["x",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]')
  const size = maxPacketBytes / 2 + 1
  t.equal(reader.read(Buffer.alloc(size)), 'more')
  t.ok(reader.read(Buffer.alloc(size)) === undefined)
})

t.test('unfinished packets count together per account, handled ones no longer [B2]', async t => {
  const server = await startServer(t)
  const [ada, bob] = [await signUp(t, server), await signUp(t, server)]
  const begin = async (token: string) => {
    const web = await openAccepted(t, server, { token })
    web.send('452-1["x",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]')
    await web.pourBytes(Buffer.alloc(20 * 1024 * 1024))
    web.send('3')
    return web
  }
  const begun = []
  for (let count = 0; count < 6; count += 1) begun.push(await begin(ada.token))
  t.equal(await (await begin(ada.token)).ended(), 4029, 'more than 128 MiB')
  const other = await begin(bob.token)
  begun[0]?.hangUp()
  const again = await begin(ada.token)
  for (const web of [other, again]) {
    web.send(Buffer.alloc(1), 'binary')
    web.send('422["ping"]')
    t.match(await web.next(), /^432/)
  }
  again.send('452-1["x",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]')
  await again.pourBytes(Buffer.alloc(20 * 1024 * 1024))
  again.send('3')
  again.send(Buffer.alloc(1), 'binary')
  again.send('422["ping"]')
  t.match(await again.next(), /^432/, 'what was handled is given back')
})

t.test('no input throws [N6]', async () => {
  const piece = fc.oneof(
    fc.constantFrom('51-["x",{"_placeholder":true,"num":0}]', '62-1[{"_placeholder":true,"num":1},{"_placeholder":true,"num":0}]'),
    fc.string(),
    fc.uint8Array().map(bytes => Buffer.from(bytes))
  )
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      const reader = new PacketReader()
      for (const data of pieces) reader.read(data)
    })
  )
})

t.test('bytes in place of text are bad input and not a fault [N1, N6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const web = await openAccepted(t, server, { token: ada.token, clientType: 'session-scoped', sessionId: session })
  const place = { _placeholder: true, num: 0 }
  const table: [name: string, payload: unknown, answer: RegExp][] = [
    ['ping', place, /^431\[\{\}\]$/],
    ['rpc-call', { method: `${session}:x`, params: place }, /^431\[\{"ok":false,"error":/],
    ['rpc-call', place, /^431\[\{"ok":false,"error":/],
    ['update-metadata', { sid: session, metadata: place, expectedVersion: 0 }, /^431\[\{"result":"error"/],
    ['update-state', { sid: session, agentState: place, expectedVersion: 0 }, /^431\[\{"result":"error"/]
  ]
  for (const [name, payload, answer] of table) {
    web.send(`451-1${JSON.stringify([name, payload])}`)
    web.send(one, 'binary')
    t.match(await web.next(), answer, name)
  }
  web.send(`451-${JSON.stringify(['message', { sid: session, message: place }])}`)
  web.send(one, 'binary')
  web.send('422["ping"]')
  t.equal(await web.next(), '432[{}]')
  t.same((await ada.call('GET', `/v3/sessions/${session}/messages`)).body.messages, [])
})

t.test('an answer in bytes does not answer a call', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  const agent = await openAccepted(t, server, { token: ada.token, clientType: 'session-scoped', sessionId: session })
  agent.send(`42["rpc-register",{"method":"${session}:x"}]`)
  await agent.next()
  const result = app.emitWithAck('rpc-call', { method: `${session}:x`, params: 'x' })
  const request = await agent.next()
  t.match(request, /^42\d+\["rpc-request"/)
  agent.send(`461-${/^42(\d+)/.exec(request ?? '')?.[1]}[{"_placeholder":true,"num":0}]`)
  agent.send(one, 'binary')
  t.match(await result, { ok: false, error: String })
  t.same(await app.emitWithAck('ping'), {})
})

t.test('announced bytes that never arrive block only their own connection', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  web.send('451-1["ping",{"_placeholder":true,"num":0}]')
  web.send('422["ping"]')
  t.equal(await web.ended(), 4400)
})
