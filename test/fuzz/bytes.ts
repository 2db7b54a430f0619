import type { Attack } from './campaign.ts'
import { HttpConnection } from './http-connection.ts'
import { mutatedBytes } from './values.ts'
import { frame, opcodes, upgradeRequest } from './websocket.ts'
import type { World } from './world.ts'

/** For an answer: much that is nearly HTTP is only the beginning of something. */
const patienceMs = 250
const atOnce = 8

/** Some TCP connections with bytes that are nearly HTTP, and nearly WebSocket frames after it. */
export async function attackBytes(attack: Attack): Promise<void> {
  await Promise.all(Array.from({ length: atOnce }, () => attackConnection(attack)))
}

async function attackConnection({ server, world, tally }: Attack): Promise<void> {
  const { random } = world
  const connection = new HttpConnection(server.port)
  const parts = conversation(world).map(part => mutatedBytes(Buffer.from(part, 'latin1'), random))
  const asked = connection.ask(...parts)
  if (random.chance(0.1)) connection.destroy()
  else if (random.chance(0.5)) connection.end()
  connection.leave(patienceMs)
  const answers = await asked
  // What follows the first wrong byte may have been read as part of something else.
  tally.count('raw bytes')
  if (answers[0]?.status === 101 && parts.length > 1) tally.count('frames')
  for (const { status, text } of answers) if (status === 500) tally.found(`Raw bytes were answered with 500 ${text}`)
}

function conversation(world: World): string[] {
  const { random } = world
  const head = (...lines: string[]) => [...lines, 'Host: localhost', `Authorization: Bearer ${world.token()}`, '', ''].join('\r\n')
  const text = (opcode: number, payload: string) => frame(opcode, Buffer.from(payload, 'latin1')).toString('latin1')
  const body = '{"tag":"raw","metadata":"x"}'
  const upgrade = upgradeRequest('/v1/updates/?EIO=4&transport=websocket')
  return random.pick([
    [head('GET /v1/sessions HTTP/1.1')],
    [head('POST /v1/sessions HTTP/1.1', 'Content-Type: application/json', `Content-Length: ${body.length}`) + body],
    [head('POST /v1/sessions HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked'), `1c\r\n${body}\r\n0\r\n\r\n`],
    [head('POST /v1/sessions HTTP/1.1', 'Content-Length: 5', 'Transfer-Encoding: chunked') + body],
    [head('GET /../../etc/passwd HTTP/1.1'), head('GET /%2e%2e/%00 HTTP/1.1')],
    [head('GET / HTTP/1.1', `X-Long: ${'x'.repeat(20_000)}`)],
    [
      upgrade,
      text(opcodes.text, `40{"token":"${world.token()}"}`),
      text(opcodes.text, '42["ping"]'),
      text(opcodes.bytes, 'bytes'),
      text(opcodes.close, '\x03\xe8')
    ],
    [upgrade, text(opcodes.more, 'x'), text(opcodes.text, '\xff\xfe'), text(opcodes.ping, 'x'), text(3, 'x')]
  ])
}
