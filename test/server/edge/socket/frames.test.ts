import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { openTcp } from '../../raw-http.ts'

/** A frame made by hand: nothing about it has to be right. */
function frame(
  opcode: number,
  payload: string | Buffer = '',
  { fin = true, reserved = 0, masked = true, length = Buffer.from(payload).length } = {}
): Buffer {
  const bytes = Buffer.from(payload)
  const head = [(fin ? 0x80 : 0) | (reserved << 4) | opcode]
  const size = length < 126 ? Buffer.from([length]) : Buffer.from([126, length >> 8, length & 0xff])
  size.writeUInt8(size.readUInt8() | (masked ? 0x80 : 0))
  const mask = randomBytes(4)
  return Buffer.concat([Buffer.from(head), size, ...(masked ? [mask, bytes.map((byte, at) => byte ^ (mask[at & 3] ?? 0))] : [bytes])])
}

/** A WebSocket right after its handshake, and how that was answered. */
async function upgraded(t: Test, server: { port: number }, extra = ''): Promise<{ socket: Socket; answer: string }> {
  const socket = await openTcp(t, server)
  socket.write(
    'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\nSec-WebSocket-Version: 13\r\n${extra}\r\n`
  )
  const [answer] = await once(socket, 'data')
  return { socket, answer: String(answer) }
}

const text = 1
const wrong: [why: string, bytes: Buffer][] = [
  // The library takes its first bytes for a mask, so that it makes no sense once there are enough of them.
  ['frames that are not masked', Buffer.concat([1, 2].map(() => frame(text, '2'.repeat(50), { masked: false })))],
  ['the first reserved bit, which says that it is compressed', frame(text, '2', { reserved: 4 })],
  ['the second reserved bit', frame(text, '2', { reserved: 2 })],
  ['the third reserved bit', frame(text, '2', { reserved: 1 })],
  ['a kind nobody has heard of', frame(3, 'x')],
  ['a control frame nobody has heard of', frame(11, 'x')],
  ['a ping in pieces', frame(9, 'x', { fin: false })],
  ['a ping that is too long', frame(9, 'x'.repeat(126))],
  ['a piece that continues nothing', frame(0, 'x')],
  ['a new message before the last one has ended', Buffer.concat([frame(text, '4', { fin: false }), frame(text, '2')])],
  ['text that is not UTF-8', frame(text, Buffer.from([0x34, 0xc0, 0x80]))],
  [
    'text that is not UTF-8, in two pieces',
    Buffer.concat([frame(text, Buffer.from([0x34, 0xe2]), { fin: false }), frame(0, Buffer.from([0x28]))])
  ],
  ['a close of one byte', frame(8, 'x')],
  ['a close with a code nobody may send', frame(8, Buffer.from([0x03, 0xed]))],
  ['a close whose reason is not UTF-8', frame(8, Buffer.from([0x03, 0xe8, 0xff]))]
]

t.test('frames that violate the WebSocket protocol end only their own connection [N7]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const other = await ada.connect()
  for (const [why, bytes] of wrong) {
    const { socket } = await upgraded(t, server)
    const closed = once(socket, 'close')
    socket.resume().write(bytes)
    await closed
    t.same(await other.emitWithAck('ping'), {}, why)
  }
})

t.test('a fragmented message is one message, with a ping in between answered at once [N7]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const { socket, answer } = await upgraded(t, server)
  let heard = answer
  socket.on('data', chunk => {
    heard += chunk.toString('latin1')
  })
  const hello = `40${JSON.stringify({ token: ada.token })}`
  const empty = frame(0, '', { fin: false })
  socket.write(Buffer.concat([frame(text, hello.slice(0, 10), { fin: false }), frame(9, 'there?'), empty, frame(0, hello.slice(10))]))
  while (!/40\{"sid"/.test(heard)) await once(socket, 'data')
  t.match(heard, /there\?.*40\{"sid"/s)
})

t.test('compression is never negotiated [N13]', async t => {
  const server = await startServer(t)
  const { answer } = await upgraded(t, server, 'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n')
  t.match(answer, /^HTTP\/1\.1 101 /)
  t.notMatch(answer, /sec-websocket-extensions|permessage/i)
})

t.test('a body declared as compressed is not unpacked [N13]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const response = await fetch(`${server.url}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: Uint8Array.from(gzipSync(JSON.stringify({ tag: 'packed', metadata: 'x' })))
  })
  t.equal(response.status, 400)
  t.same((await ada.call('GET', '/v1/sessions')).body, { sessions: [] })
})
