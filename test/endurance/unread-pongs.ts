import { setTimeout as delay } from 'node:timers/promises'
import { next, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openWebSocket, pingOf } from '../server/raw-websocket.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
const endsWithinMs = 10_000
/** More than the kernel takes of both directions before anything waits in the server. */
const pingsEach = 160 * mib
const mostOfNetwork = 60
/** A ping may carry this much, and its pong carries it back. */
const payloadBytes = 125
/** Of those who are signed in, who is as good as a stranger once it reads nothing. */
const knownInTen = 3

/** Sockets of strangers and of an account that send WebSocket pings without an end and read none of the answers. */
export async function unreadPongs(t: Keeper, { data, connections }: { data: string; connections: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const port = Number(new URL(server.url).port)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const { now: before } = memoryOf(server.child.pid)
  const pings = pingsOf(64 * 1024)
  let sent = 0
  let closed = 0

  const flood = async (number: number) => {
    const from = `127.0.${1 + Math.floor(number / mostOfNetwork)}.1`
    const web = await openWebSocket(t, { port, from })
    if (number % 10 < knownInTen) web.send(`40${JSON.stringify({ token: ada.token })}`)
    web.stall()
    for (let rest = pingsEach; rest > 0; rest -= pings.length) {
      sent += pings.length
      if (!(await web.pour(pings))) break
    }
    web.resume()
    if (await Promise.race([web.ended().then(() => true), delay(endsWithinMs, false, { ref: false })])) closed += 1
  }
  const attacked = await bystander.waits(() => Promise.all(Array.from({ length: connections }, (_, number) => flood(number))))
  const grown = memoryOf(server.child.pid).most - before
  const isHeard = next(app, 'update')
  const { status } = await ada.send(session, { localId: 'after' })
  await isHeard
  return {
    told: `${connections} sockets sent ${Math.round(sent / mib)} MiB of pings and read no answer; ${closed} were closed; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [
      ...(status === 200 ? [] : [`A message was answered with ${status}.`]),
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`]),
      ...(closed === connections ? [] : [`${connections - closed} of ${connections} sockets stayed open.`])
    ]
  }
}

/** As many whole pings as fit. */
function pingsOf(bytes: number): Buffer {
  const ping = pingOf(Buffer.alloc(payloadBytes, 'x'))
  return Buffer.concat(Array.from({ length: Math.floor(bytes / ping.length) }, () => ping))
}
