import fc from 'fast-check'
import t from 'tap'
import { ackFrame, askFrame, parsePacket } from '../../../../lib/server/edge/socket/packets.ts'
import { type Frame, pieceBytes } from '../../../../lib/server/hub/frames.ts'
import { call, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { openAccepted, openWebSocket } from '../../raw-websocket.ts'

t.test('each packet a client may send is read', async t => {
  const table: [text: string, packet: unknown][] = [
    ['0', { type: 'connect', namespace: '/', auth: {} }],
    ['0{"token":"x"}', { type: 'connect', namespace: '/', auth: { token: 'x' } }],
    ['0/admin,{"token":"x"}', { type: 'connect', namespace: '/admin', auth: { token: 'x' } }],
    ['0/admin', { type: 'connect', namespace: '/admin', auth: {} }],
    ['1', { type: 'disconnect' }],
    ['2["ping"]', { type: 'event', ackId: undefined, name: 'ping', payload: undefined }],
    ['27["ping",{"a":1}]', { type: 'event', ackId: 7, name: 'ping', payload: { a: 1 } }],
    ['2/,7["ping"]', { type: 'event', ackId: 7, name: 'ping', payload: undefined }],
    ['3123["reply"]', { type: 'ack', ackId: 123, reply: 'reply' }],
    ['30[]', { type: 'ack', ackId: 0, reply: undefined }]
  ]
  for (const [text, packet] of table) t.same(parsePacket(text), packet, text)
})

t.test('calls and their answers are JSON, with a long text at their end too', async t => {
  const textOf = (frame: Frame) => (typeof frame === 'string' ? frame : String(frame.bytes))
  const long = 'x'.repeat(pieceBytes)
  const unit = fc.constantFrom('a', '/', '+', '~', ' ', '"', '\\', '\n', '\u007f', 'é', '\u2028', '\ud800', '😀')
  const text = fc.string({ unit }).map(text => long + text)
  const bodies = [
    fc.record({ method: fc.string(), params: text }),
    fc.record({ ok: fc.boolean(), result: text }),
    fc.record({ params: text, method: fc.string() }),
    text,
    fc.jsonValue()
  ]
  fc.assert(
    fc.property(fc.oneof(...bodies), body => {
      t.equal(textOf(askFrame(7, 'rpc-request', body)), `427${JSON.stringify(['rpc-request', body])}`)
      t.equal(textOf(ackFrame(7, body)), `437${JSON.stringify([body])}`)
    })
  )
})

const broken = [
  '',
  '7',
  'x',
  '2',
  '2{}',
  '2[]',
  '2[7]',
  '2[null]',
  '2["ping"',
  '2-1["ping"]',
  '29007199254740993["ping"]',
  '299999999999999999999999["ping"]',
  '2/admin,["ping"]',
  '2["connect"]',
  '2["disconnect"]',
  '2["newListener"]',
  '3["no id"]',
  '31{}',
  '0{"token"',
  '1x',
  '4{"message":"x"}',
  '5["no number of attachments",{"_placeholder":true,"num":0}]',
  '5-["no number",{"_placeholder":true,"num":0}]',
  '50-["none",{}]',
  '5-1-["negative",{"_placeholder":true,"num":0}]',
  '51.5-["a part",{"_placeholder":true,"num":0}]',
  '511-["more than anybody sends"]',
  '51-["no place for it",{}]',
  '51-["beyond the last",{"_placeholder":true,"num":1}]',
  '51-["before the first",{"_placeholder":true,"num":-1}]',
  '51-["a part",{"_placeholder":true,"num":0.5}]',
  '51-["a property of lists",{"_placeholder":true,"num":"splice"}]',
  '51-["text",{"_placeholder":true,"num":"0"}]',
  '51-["no number",{"_placeholder":true}]',
  '51-["twice",{"_placeholder":true,"num":0},{"_placeholder":true,"num":0}]',
  '51-[{"_placeholder":true,"num":0},"a name of bytes"]',
  '51-{"_placeholder":true,"num":0}',
  '51-/admin,["elsewhere",{"_placeholder":true,"num":0}]',
  '51-["connect",{"_placeholder":true,"num":0}]',
  `51-["deep",${'['.repeat(100_000)}{"_placeholder":true,"num":0}${']'.repeat(100_000)}]`,
  '61-1[{"_placeholder":true,"num":"splice"}]',
  '61-[{"_placeholder":true,"num":0}]',
  '2\u001e2["ping"]'
]

t.test('an invalid packet is not read and does not throw [N6]', async t => {
  for (const text of broken) t.equal(parsePacket(text), undefined, JSON.stringify(text).slice(0, 100))
  fc.assert(fc.property(fc.string(), text => void parsePacket(text)))
  fc.assert(fc.property(fc.constantFrom('0', '1', '2', '3', '51-', '62-7'), fc.json(), (type, json) => void parsePacket(type + json)))
})

t.test('a broken packet closes its own connection and nothing else [N1, N6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const witness = await ada.connect()
  for (const text of broken) {
    const web = await openAccepted(t, server, { token: ada.token })
    web.send(`4${text}`)
    t.equal(await web.ended(), 4400, JSON.stringify(text).slice(0, 100))
  }
  for (const text of ['', 'x', '0', '2', '2probe', '7', 'b4AAAA', '\u001e4']) {
    const web = await openAccepted(t, server, { token: ada.token })
    web.send(text)
    t.equal(await web.ended(), 4400, JSON.stringify(text))
  }
  t.same(await witness.emitWithAck('ping'), {})
})

t.test('unannounced bytes end the connection [N6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  web.send(new Uint8Array([4, 2, 255]), 'binary')
  t.equal(await web.ended(), 4400)
})

t.test('text that is not UTF-8 ends the connection [N4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  web.send(new Uint8Array([0x34, 0x32, 0xc0, 0x80, 0xff]), 'text')
  t.ok([1006, 1007, undefined].includes(await web.ended()))
  t.equal((await call(server, 'GET', '/health')).status, 200)
})

t.test('events before the handshake, and a second handshake, end the connection [N6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const early = await openWebSocket(t, server)
  await early.next()
  early.send('42["ping"]')
  t.equal(await early.ended(), 4400)

  const unfinished = await openWebSocket(t, server)
  await unfinished.next()
  unfinished.send('451-["ping",{"_placeholder":true,"num":0}]')
  t.equal(await unfinished.ended(), 4400, 'its bytes are not waited for')

  const hasty = await openWebSocket(t, server)
  await hasty.next()
  hasty.send(`40${JSON.stringify({ token: ada.token })}`)
  hasty.send(`40${JSON.stringify({ token: ada.token })}`)
  t.equal(await hasty.ended(), 4400)

  const twice = await openAccepted(t, server, { token: ada.token })
  twice.send(`40${JSON.stringify({ token: ada.token })}`)
  t.equal(await twice.ended(), 4400)
})

t.test('an unauthenticated handshake has a small size limit', async t => {
  const server = await startServer(t)
  const web = await openWebSocket(t, server)
  await web.next()
  web.send(`40${JSON.stringify({ token: 'x'.repeat(20_000) })}`)
  t.equal(await web.ended(), 4400)
})

t.test('unknown events are ignored', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const web = await openAccepted(t, server, { token: ada.token })
  for (const name of ['unknown', 'constructor', '__proto__', 'toString', 'hasOwnProperty', 'update', 'rpc-request', 'error', '']) {
    web.send(`421${JSON.stringify([name, { method: {} }])}`)
  }
  web.send('42["ping",1,2,3,{"more":"arguments"}]')
  web.send('4315["an answer to what nobody asked"]')
  web.send('422["ping"]')
  t.equal(await web.next(), '432[{}]', 'no acknowledgement of the others')
})

t.test('no event with any payload brings the server down [N1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  const names = [
    'ping',
    'update-metadata',
    'update-state',
    'session-alive',
    'session-end',
    'message',
    'machine-alive',
    'machine-update-metadata',
    'machine-update-state',
    'rpc-register',
    'rpc-unregister',
    'rpc-call',
    'app-state',
    'partial'
  ]
  const field = fc.oneof(fc.jsonValue(), fc.constant(session), fc.constant(0), fc.string({ unit: 'binary' }))
  const payload = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(
      fc.constantFrom(
        'sid',
        'machineId',
        'metadata',
        'agentState',
        'daemonState',
        'expectedVersion',
        'time',
        'message',
        'localId',
        'state'
      ),
      field
    ),
    fc.record({ method: field })
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...names), payload), { minLength: 20, maxLength: 20 }), async events => {
      // The names of calls that fit are left out: nobody answers them for 15 s.
      for (const [name, body] of events) socket.emit(name, body)
      t.same(await socket.emitWithAck('ping'), {})
    }),
    { numRuns: 30 }
  )
})
