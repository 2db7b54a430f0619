import { setTimeout as delay } from 'node:timers/promises'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openAccepted, type RawWebSocket } from '../server/raw-websocket.ts'
import { Bystander, toldOf } from './bystander.ts'
import { fraction, manyFrames, oneFrame } from './large-frames.ts'
import { type Keeper, memoryFromNow, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
/** What an account may have. */
const mostSockets = 64
/** Each sends so much of a message that never ends, and not less than half of it: the most a socket may have to take, or just not too much for any. */
const frameBytes = { large: 24 * mib, usual: mib }
const lastingMs = 3_000

/** Sockets with somebody signed in, one account for each 64, begin large messages and never end them. Half of these are one frame, half are many. */
export async function begunFrames(
  t: Keeper,
  { data, seed, connections }: { data: string; seed: number; connections: number }
): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const port = Number(new URL(server.url).port)
  const people = await Promise.all(Array.from({ length: Math.ceil(connections / mostSockets) }, () => signUp(t, server)))
  for (const person of people) await person.call('GET', '/v1/account/profile')
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const before = memoryFromNow(server.child.pid)
  let taken = 0
  let closed = 0

  async function pour(web: RawWebSocket, number: number, most: number): Promise<void> {
    const size = Math.floor(most * (0.5 + 0.45 * fraction(seed, number)))
    for (const piece of number % 2 === 0 ? oneFrame(size) : manyFrames(size)) {
      if (!(await web.pour(piece))) return
      taken += piece.length
    }
  }

  async function one(number: number): Promise<void> {
    const person = people[Math.floor(number / mostSockets)] as Person
    const open = () => openAccepted(t, { port }, { token: person.token }).catch(() => undefined)
    // It comes back when it was closed for it.
    const isLarge = number % 4 < 2
    for (let tries = isLarge ? 2 : 1; tries > 0; tries -= 1) {
      const web = await open()
      if (web) await pour(web, number, isLarge ? frameBytes.large : frameBytes.usual)
      if (web && (await Promise.race([web.ended().then(() => true), delay(lastingMs, false, { ref: false })]))) closed += 1
      else if (web) break
    }
  }

  const attacked = await bystander.waits(() => Promise.all(Array.from({ length: connections }, (_, number) => one(number))))
  const grown = memoryOf(server.child.pid).most - before
  const { status } = (await people[0]?.call('GET', '/v1/account/profile')) ?? { status: 0 }
  return {
    told: `${Math.round(taken / mib)} MiB begun on ${connections} sockets, ${closed} times one was closed, the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`]),
      ...(status === 200 ? [] : [`A request after it was answered with ${status}.`])
    ]
  }
}
