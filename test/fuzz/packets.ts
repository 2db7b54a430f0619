import { events } from '../../lib/protocol/wire/events.ts'
import { handshake } from '../../lib/protocol/wire/handshake.ts'
import { isModest } from '../../lib/server/edge/http/json.ts'
import type { Attack } from './campaign.ts'
import { HttpConnection } from './http-connection.ts'
import { answersWithinMs } from './server.ts'
import type { Layer } from './tally.ts'
import { anyValue, jsonOf, mutatedBytes, spoiledValue, validValue } from './values.ts'
import { frame, opcodes, RawWebSocket } from './websocket.ts'
import type { World } from './world.ts'

const path = '/v1/updates/?EIO=4&transport='
const payloads = Object.entries(events).map(([name, { payload }]) => ({ name, payload: jsonOf(payload) }))
const hello = jsonOf(handshake)
const mostRounds = 8
const mostPackets = 200
/** For an answer to what follows an unfinished packet, which may be taken as part of that. */
const patienceMs = 100

/** What is sent as one input: a packet, and what belongs to it. */
interface Input {
  /** What is wrong with it; undefined if nothing is. */
  layer: Layer | undefined
  packets: readonly (string | Uint8Array)[]
}

/** One WebSocket: a handshake, and batches of packets that a connection survives, each followed by one that it may not. */
export async function attackSocket(attack: Attack): Promise<void> {
  const { server, world, tally } = attack
  const { random } = world
  let hear: (text: string) => void = () => {}
  const socket = await RawWebSocket.open(server.port, `${path}websocket`, text => {
    // Calls of others are answered, with whatever comes to mind.
    const call = /^42(\d+)\["rpc-request"/.exec(text)
    if (call) socket?.send(frame(opcodes.text, `43${call[1]}${JSON.stringify([anyValue(random)])}`))
    hear(text)
  })
  if (!socket) return
  if (await signIn()) for (let left = random.between(1, mostRounds); left > 0 && socket.isOpen; left -= 1) await attackOnce()
  socket.destroy()

  async function signIn(): Promise<boolean> {
    if (random.chance(0.2)) {
      const fate = await answered([frame(opcodes.text, `40${JSON.stringify(spoiledValue(hello, random, world.known))}`)], /^4[04]/)
      tally.count('Socket.IO packets')
      if (fate === 'closed') return false
    }
    const { token, ...scope } = helloOf(world)
    let refused = false
    const fate = await answered([frame(opcodes.text, `40${JSON.stringify({ token, ...scope })}`)], /^4[04]/, text => {
      refused = text.startsWith('44')
    })
    if (refused) world.lost(token)
    return fate === 'answered' && !refused
  }

  async function attackOnce(): Promise<void> {
    const batch = Array.from({ length: random.between(1, mostPackets) }, () => mildInput(world))
    const fate = await pinged(
      batch.flatMap(({ packets }) => packets.map(frameOf)),
      answersWithinMs
    )
    if (fate === 'silent') tally.found('A connection neither answered a ping nor was closed.')
    // It was closed at one of them.
    const judged = fate === 'closed' ? batch.slice(0, 1) : batch
    for (const { layer } of judged) if (layer) tally.count(layer)
    if (fate !== 'answered') return socket?.destroy()
    const harsh = random.chance(0.5) ? { layer: 'frames' as const, frames: spoiledFrames(world) } : undefined
    const input = harshInput(world)
    const after = await pinged(harsh?.frames ?? input.packets.map(frameOf), patienceMs)
    tally.count(harsh?.layer ?? input.layer)
    if (after === 'silent') socket?.destroy()
  }

  /** Whether the server goes on with the connection. */
  function pinged(frames: readonly Buffer[], withinMs: number): Promise<Fate> {
    const id = random.between(1_000_000, 9_000_000)
    return answered([...frames, frame(opcodes.text, `42${id}["ping"]`)], new RegExp(`^43${id}\\[`), undefined, withinMs)
  }

  type Fate = 'answered' | 'closed' | 'silent'
  async function answered(frames: Buffer[], by: RegExp, onAnswer?: (text: string) => void, withinMs = answersWithinMs): Promise<Fate> {
    const { promise, resolve } = Promise.withResolvers<Fate>()
    hear = text => {
      if (!by.test(text)) return
      onAnswer?.(text)
      resolve('answered')
    }
    const timer = setTimeout(() => resolve('silent'), withinMs)
    socket?.closed.then(() => resolve('closed'))
    socket?.send(...frames)
    const fate = await promise
    clearTimeout(timer)
    return fate
  }
}

/** The same packets as the bodies of long-polling. */
export async function attackPolling({ server, world, tally }: Attack): Promise<void> {
  const { random } = world
  const connection = new HttpConnection(server.port)
  const ask = async (method: string, query: string, body = '') => {
    const head = `${method} ${path}polling${query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    const asked = connection.ask(Buffer.from(head + body))
    const timer = setTimeout(() => connection.destroy(), patienceMs * 10)
    const [answer] = await asked
    clearTimeout(timer)
    if (answer?.status === 500) tally.found(`Polling was answered with 500 ${answer.text}`)
    return answer
  }
  const sid = /"sid":"([^"]+)"/.exec((await ask('GET', ''))?.text ?? '')?.[1]
  if (sid === undefined) return connection.destroy()
  await ask('POST', `&sid=${sid}`, `40${JSON.stringify(helloOf(world))}`)
  await ask('GET', `&sid=${sid}`)
  const batch = Array.from({ length: random.between(1, mostPackets) }, () => mildInput(world))
  const answer = await ask('POST', `&sid=${sid}`, batch.flatMap(({ packets }) => packets.map(packetOf)).join('\x1e'))
  if (answer?.status === 200) for (const { layer } of batch) if (layer) tally.count(layer)
  if (random.chance(0.3)) {
    const spoiled: readonly [method: string, query: string][] = [
      ['PUT', `&sid=${sid}`],
      ['DELETE', `&sid=${sid}`],
      ['POST', '&sid=nobody'],
      ['POST', '&EIO=3'],
      ['GET', '&sid=%00'],
      ['POST', '']
    ]
    if (await ask(...random.pick(spoiled))) tally.count('Engine.IO packets')
  }
  const { layer, packets } = harshInput(world)
  if (await ask('POST', `&sid=${sid}`, packets.map(packetOf).join(random.chance(0.9) ? '\x1e' : ''))) tally.count(layer)
  connection.destroy()
}

function frameOf(packet: string | Uint8Array): Buffer {
  return frame(typeof packet === 'string' ? opcodes.text : opcodes.bytes, packet)
}

function packetOf(packet: string | Uint8Array): string {
  return typeof packet === 'string' ? packet : `b${Buffer.from(packet).toString('base64')}`
}

function helloOf({ random, known, token }: World) {
  const scopes = [
    {},
    { clientType: 'session-scoped', sessionId: random.pick(known('sid')) },
    { clientType: 'machine-scoped', machineId: 'laptop' }
  ]
  return { token: token(), ...random.pick(scopes) }
}

/** One that a connection survives, as a rule. */
function mildInput(world: World): Input {
  const { random, known } = world
  if (random.chance(0.1)) {
    const packet = random.pick(borne)
    return { layer: layerOf(packet), packets: [packet] }
  }
  const { name, payload } = random.pick(payloads)
  const isWrong = random.chance(0.9)
  const packet = eventPacket(world, name, (isWrong ? spoiledValue : validValue)(payload, random, known))
  // JSON that is too deep ends a connection.
  return isModest(packet) ? { layer: isWrong ? 'events' : undefined, packets: [packet] } : mildInput(world)
}

/** One that a connection may not survive. */
function harshInput(world: World): Input & { layer: Layer } {
  const { random, known } = world
  const luck = random.between(0, 9)
  if (luck < 2) return { layer: 'Socket.IO packets', packets: [Uint8Array.from(mutatedBytes(Buffer.from('any bytes at all'), random))] }
  if (luck < 5) {
    const packet = random.pick(garbage)
    return { layer: layerOf(packet), packets: [packet] }
  }
  if (luck < 7) {
    // A packet that announces bytes, with some of them or too many.
    const count = random.between(0, 3)
    const body = [random.pick(payloads).name, ...Array.from({ length: count }, (_, num) => ({ _placeholder: true, num }))]
    const bytes = Array.from({ length: random.between(0, 3) }, () => Uint8Array.from([1, 2, 3]))
    return { layer: 'Socket.IO packets', packets: [`45${random.between(0, 3)}-${JSON.stringify(body)}`, ...bytes] }
  }
  const { name, payload } = random.pick(payloads)
  const packet = eventPacket(world, name, spoiledValue(payload, random, known))
  return { layer: 'Socket.IO packets', packets: [mutatedBytes(Buffer.from(packet), random).toString()] }
}

function eventPacket({ random }: World, name: string, payload: unknown): string {
  const id = random.chance(0.5) ? random.pick(['1', '2', '0']) : ''
  return `42${id}${JSON.stringify([name, payload])}`
}

function layerOf(packet: string): Layer {
  return packet.startsWith('4') ? 'Socket.IO packets' : 'Engine.IO packets'
}

/** Frames that no client may send. */
function spoiledFrames({ random }: World): Buffer[] {
  const text = '42["ping"]'
  return random.pick([
    () => [frame(random.pick([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]), text)],
    () => [frame(opcodes.text, text, { flags: 0x80 | random.pick([0x10, 0x20, 0x40, 0x70]) })],
    () => [frame(opcodes.text, text, { isMasked: false })],
    () => [frame(opcodes.text, text, { flags: 0 }), frame(opcodes.text, text)],
    () => [frame(opcodes.more, text)],
    () => [frame(opcodes.ping, text, { flags: 0 })],
    () => [frame(random.pick([opcodes.ping, opcodes.pong, opcodes.close]), 'x'.repeat(random.between(126, 300)))],
    () => [frame(opcodes.close, random.pick(['x', '\u0000\u0001', '\u0003\u00ef']))],
    () => [frame(opcodes.text, Uint8Array.from([0x34, 0x32, 0xff, 0xfe, random.between(128, 255)]))],
    () => [frame(opcodes.text, text, { announced: random.pick([2 ** 31, 2 ** 40, 2 ** 53]) })],
    () => [frame(opcodes.text, text, { announced: random.between(text.length + 1, 60_000) })],
    () => [mutatedBytes(frame(opcodes.text, text), random)]
  ])()
}

/** Packets that are wrong, and no reason to close a connection. */
const borne = [
  '3x',
  '5',
  '5x',
  '6',
  '6["x"]',
  '40/other,',
  '40/__proto__,{}',
  '42["__proto__",{}]',
  '42["toString"]',
  '42["ping",1,2,3]',
  '42[""]',
  '421["constructor",{"__proto__":{"isAdmin":true}}]',
  '431[]',
  '430[null,1,2]',
  '43123456789[{"_placeholder":true,"num":0}]'
]

const garbage = [
  '',
  '0',
  '1x',
  '2',
  '2probe',
  '3',
  '4',
  '40',
  '41/other,',
  '42',
  '42[]',
  '42[null]',
  '42{}',
  '42["connect"]',
  '42["disconnect"]',
  '42999999999999999999999["ping"]',
  '43',
  '4399999999999999999999["x"]',
  '44"x"',
  '45-["x"]',
  '45999999-["x"]',
  '451-["message",{"_placeholder":true,"num":9}]',
  '461-1["x"]',
  '47',
  '7',
  'b',
  'bAAAA',
  '\u0000',
  '4'.repeat(2_000),
  `42["message",${'['.repeat(5_000)}`,
  `42["ping",${'['.repeat(40)}${']'.repeat(40)}]`,
  `42["ping",${'['.repeat(2_000)}${']'.repeat(2_000)}]`
]
