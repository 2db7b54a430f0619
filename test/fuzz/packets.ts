import { events } from '../../lib/protocol/wire/events.ts'
import { handshake } from '../../lib/protocol/wire/handshake.ts'
import type { Fuzzed } from './server.ts'
import { anyValue, fuzzedValue, jsonOf, mutatedBytes } from './values.ts'
import type { World } from './world.ts'

const path = '/v1/updates/?EIO=4&transport='
const payloads = Object.entries(events).map(([name, { payload }]) => ({ name, payload: jsonOf(payload) }))
const hello = jsonOf(handshake)
const mostPackets = 40

/** One WebSocket with a handshake, good as a rule, and a handful of packets. Resolves when it is over. */
export async function attackSocket(server: Fuzzed, world: World): Promise<number> {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}${path}websocket`)
  socket.binaryType = 'arraybuffer'
  const over = new Promise<void>(resolve => {
    socket.onclose = () => resolve()
    socket.onerror = () => resolve()
  })
  const opened = await Promise.race([new Promise(resolve => (socket.onopen = () => resolve(true))), over])
  if (opened !== true) return 0
  let answers = 0
  let heard: () => void = () => {}
  socket.onmessage = ({ data }) => {
    answers += 1
    // Calls of others are answered, with whatever comes to mind.
    const call = typeof data === 'string' ? /^42(\d+)\["rpc-request"/.exec(data) : null
    if (call && socket.readyState === socket.OPEN) socket.send(`43${call[1]}${JSON.stringify([anyValue(world.random)])}`)
    heard()
  }
  const answered = () => Promise.race([over, new Promise<void>(resolve => (heard = resolve))])
  let sent = 0
  const put = (packet: string | Uint8Array<ArrayBuffer>) => {
    sent += 1
    if (socket.readyState === socket.OPEN) socket.send(packet)
  }
  put(`40${JSON.stringify(handshakeOf(world))}`)
  while (answers < 2 && socket.readyState === socket.OPEN) await answered()
  for (let count = world.random.between(1, mostPackets); count > 0 && socket.readyState === socket.OPEN; count -= 1) sendOne(world, put)
  // Its answer comes after all the others; a connection that the server closed is over, too.
  put('42999["ping"]')
  const before = answers
  while (answers === before && socket.readyState === socket.OPEN) await answered()
  socket.close()
  return sent
}

/** The same packets as the bodies of long-polling. */
export async function attackPolling(server: Fuzzed, world: World): Promise<number> {
  const { random } = world
  const ask = (query: string, init: RequestInit = {}) =>
    fetch(server.url + path + query, { ...init, signal: AbortSignal.timeout(2_000) }).then(
      async response => ({ status: response.status, text: await response.text() }),
      () => undefined
    )
  const open = await ask('polling')
  const sid = /"sid":"([^"]+)"/.exec(open?.text ?? '')?.[1] ?? 'x'
  const packets: string[] = [`40${JSON.stringify(handshakeOf(world))}`]
  const put = (packet: string | Uint8Array) =>
    packets.push(typeof packet === 'string' ? `4${packet.slice(1)}` : `b${Buffer.from(packet).toString('base64')}`)
  for (let count = random.between(1, 20); count > 0; count -= 1) sendOne(world, put)
  const method = random.chance(0.9) ? 'POST' : random.pick(['PUT', 'DELETE', 'POST'])
  await ask(`polling&sid=${sid}`, { method, body: packets[0] ?? '' })
  await ask(`polling&sid=${random.chance(0.9) ? sid : 'nobody'}`, { method, body: packets.join(random.chance(0.9) ? '\x1e' : '') })
  await ask(`polling&sid=${sid}`)
  await ask(`polling&sid=${sid}`, { method: 'POST', body: '1' })
  return packets.length
}

function handshakeOf(world: World): unknown {
  const { random, known } = world
  if (random.chance(0.1)) return fuzzedValue(hello, random, known)
  const scopes = [
    {},
    { clientType: 'session-scoped', sessionId: random.pick(known('sid')) },
    { clientType: 'machine-scoped', machineId: 'laptop' }
  ]
  return { token: world.token(), ...random.pick(scopes) }
}

function sendOne(world: World, put: (packet: string | Uint8Array<ArrayBuffer>) => void): void {
  const { random, known } = world
  const luck = random.between(0, 9)
  if (luck === 0) {
    put(Uint8Array.from(mutatedBytes(Buffer.from('any bytes at all'), random)))
  } else if (luck === 1) {
    put(random.pick(garbage))
  } else if (luck === 2) {
    // A packet that announces bytes, with some of them or too many.
    const count = random.between(0, 3)
    const body = [random.pick(payloads).name, ...Array.from({ length: count }, (_, num) => ({ _placeholder: true, num }))]
    put(`45${random.between(0, 3)}-${JSON.stringify(body)}`)
    for (let at = random.between(0, 3); at > 0; at -= 1) put(Uint8Array.from([1, 2, 3]))
  } else {
    const { name, payload } = random.pick(payloads)
    const id = random.chance(0.5) ? random.pick(['1', '2', '0', '999999999999999999999']) : ''
    const packet = `42${id}${JSON.stringify([name, fuzzedValue(payload, random, known)])}`
    put(luck < 9 ? packet : mutatedBytes(Buffer.from(packet), random).toString())
  }
}

const garbage = [
  '',
  '0',
  '1x',
  '2',
  '2probe',
  '3',
  '4',
  '40',
  '40/other,',
  '41/other,',
  '42',
  '42[]',
  '42[null]',
  '42{}',
  '42["connect"]',
  '42["disconnect"]',
  '42["__proto__",{}]',
  '42["toString"]',
  '42["ping",1,2,3]',
  '43',
  '431[]',
  '4399999999999999999999["x"]',
  '44"x"',
  '45-["x"]',
  '45999999-["x"]',
  '451-["message",{"_placeholder":true,"num":9}]',
  '461-1["x"]',
  '47',
  '5',
  '6',
  '7',
  'b',
  'bAAAA',
  '\u0000',
  '4'.repeat(2_000),
  `42["message",${'['.repeat(5_000)}`
]
