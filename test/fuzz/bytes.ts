import { once } from 'node:events'
import { connect } from 'node:net'
import type { Fuzzed } from './server.ts'
import { mutatedBytes } from './values.ts'
import type { World } from './world.ts'

const patienceMs = 300

/** One TCP connection with bytes that are nearly HTTP, and nearly WebSocket frames after it. */
export async function attackBytes(server: Fuzzed, world: World): Promise<number> {
  const { random } = world
  const socket = connect(server.port, '127.0.0.1')
  const closed = once(socket, 'close').catch(() => {})
  socket.on('error', () => {}).on('data', () => {})
  socket.setTimeout(patienceMs, () => socket.destroy())
  const [first, ...rest] = conversation(world)
  socket.write(mutatedBytes(Buffer.from(first ?? '', 'latin1'), random))
  for (const part of rest) socket.write(mutatedBytes(Buffer.from(part, 'latin1'), random))
  if (random.chance(0.3)) socket.destroy()
  else if (random.chance(0.5)) socket.end()
  await closed
  return 1 + rest.length
}

const frame = (opcode: number, text: string, mask = '\0\0\0\0') =>
  `${String.fromCharCode(0x80 | opcode, 0x80 | Math.min(text.length, 125))}${mask}${text}`

function conversation(world: World): string[] {
  const { random } = world
  const head = (...lines: string[]) => [...lines, `Host: localhost`, `Authorization: Bearer ${world.token()}`, '', ''].join('\r\n')
  const body = '{"tag":"raw","metadata":"x"}'
  const upgrade = head(
    'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1',
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Version: 13'
  )
  return random.pick([
    [head('GET /v1/sessions HTTP/1.1')],
    [head('POST /v1/sessions HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`) + body],
    [head('POST /v1/sessions HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked'), `1c\r\n${body}\r\n0\r\n\r\n`],
    [head('POST /v1/sessions HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked') + body],
    [head('GET /../../etc/passwd HTTP/1.1'), head('GET /%2e%2e/%00 HTTP/1.1')],
    [head('GET / HTTP/1.1', `X-Long: ${'x'.repeat(20_000)}`)],
    [upgrade, frame(1, `40{"token":"${world.token()}"}`), frame(1, '42["ping"]'), frame(2, 'bytes'), frame(8, '\x03\xe8')],
    [upgrade, frame(0, 'x'), frame(1, '\xff\xfe'), frame(9, 'x'), frame(3, 'x')]
  ])
}
