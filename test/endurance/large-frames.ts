import { setTimeout as delay } from 'node:timers/promises'
import { signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openAccepted, openWebSocket, type RawWebSocket } from '../server/raw-websocket.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryFromNow, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
/** Each sends so much of a message that never ends, and not less than half of it. */
const frameBytes = 24 * mib
/** An address has 64 places, and somebody there is signed in. */
const mostOfNetwork = 60
const lastingMs = 3_000
const opensWithinMs = 10_000

/** Strangers from networks where somebody signed in begin large messages and never end them. Half of these are one frame, half are many. */
export async function largeFrames(
  t: Keeper,
  { data, seed, connections }: { data: string; seed: number; connections: number }
): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const port = Number(new URL(server.url).port)
  const networks = Math.ceil(connections / mostOfNetwork)
  const people = await Promise.all(Array.from({ length: networks }, () => signUp(t, server)))
  for (const [network, { token }] of people.entries()) await openAccepted(t, { port, from: addressOf(network) }, { token })
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))

  async function flood(open: (network: number) => Promise<RawWebSocket>): Promise<string> {
    const before = memoryFromNow(server.child.pid)
    let taken = 0
    let closed = 0
    const one = async (number: number) => {
      const opening = open(Math.floor(number / mostOfNetwork))
      const web = await Promise.race([opening.catch(() => undefined), delay(opensWithinMs, undefined, { ref: false })])
      if (!web) return
      const size = Math.floor(frameBytes * (0.5 + 0.45 * fraction(seed, number)))
      for (const piece of number % 2 === 0 ? oneFrame(size) : manyFrames(size)) {
        if (!(await web.pour(piece))) break
        taken += piece.length
      }
      if (await Promise.race([web.ended().then(() => true), delay(lastingMs, false, { ref: false })])) closed += 1
      web.hangUp()
    }
    const attacked = await bystander.waits(() => Promise.all(Array.from({ length: connections }, (_, number) => one(number))))
    const grown = memoryOf(server.child.pid).most - before
    if (grown >= mostMemory) complaints.push(`The server grew by ${Math.round(grown / mib)} MiB.`)
    return `${Math.round(taken / mib)} MiB begun on ${connections} sockets, ${closed} of them closed, the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`
  }

  const complaints: string[] = []
  const strange = await flood(network => openWebSocket(t, { port, from: addressOf(network) }))
  const { status } = (await people[0]?.call('GET', '/v1/account/profile')) ?? { status: 0 }
  if (status !== 200) complaints.push(`A request after it was answered with ${status}.`)
  return { told: strange, complaints }
}

const addressOf = (network: number) => `127.0.${1 + network}.1`

/** Between 0 and 1, the same for the same seed. */
export function fraction(seed: number, number: number): number {
  const mixed = Math.sin(seed + number * 12.9898) * 43_758.5453
  return mixed - Math.floor(mixed)
}

export function* oneFrame(size: number): Iterable<Buffer> {
  yield headOf(0x81, size + 1)
  for (let rest = size; rest > 0; rest -= piece.length) yield piece.subarray(0, rest)
}

export function* manyFrames(size: number): Iterable<Buffer> {
  for (let rest = size; rest > 0; rest -= piece.length) {
    yield headOf(rest === size ? 0x01 : 0x00, piece.length)
    yield piece
  }
}

const piece = Buffer.alloc(256 * 1024, 'x')

/** The head of a frame of so many bytes, under a mask of zeros. */
function headOf(first: number, bytes: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = first
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(bytes), 2)
  return head
}
