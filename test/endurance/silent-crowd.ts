import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcp } from '../server/raw-http.ts'
import { openAccepted } from '../server/raw-websocket.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const atOnce = 32
const tries = 10
const calmMs = 1_000
/** Where a device of somebody with an account is, and strangers in the same house. */
const home = '127.8.8.8'

const webSocket =
  'GET /v1/updates/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n'
const polling = 'GET /v1/updates/?EIO=4&transport=polling HTTP/1.1\r\nHost: localhost\r\n\r\n'
/** What they say once, and nothing after it. */
const words = [webSocket, webSocket, polling, '']

/**
 * Strangers that open connections and stay silent: from few addresses, from a whole /16, and from the house of somebody
 * with an account. Whoever has a token, and whoever is new, comes in at once all the while.
 */
export async function silentCrowd(
  t: Keeper,
  { data, connections, seed }: { data: string; connections: number; seed: number }
): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const port = Number(new URL(server.url).port)
  const ada = await signUp(t, server)
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const { now: before } = memoryOf(server.child.pid)
  const statuses = new Map<string, number>()
  const complaints: string[] = []
  const region = 16 + (seed % 100)
  const crowds = [
    (number: number) => `127.${region}.0.${1 + (number % 8)}`,
    (number: number) => `127.${region}.${(number >> 3) & 255}.${1 + (number & 7)}`,
    () => home
  ]

  let opened = 0
  const crowd = async (until: number, from: (number: number) => string) => {
    while (opened < until) {
      const number = opened
      opened += 1
      const socket = await openTcp(t, { port, from: from(number) })
      const word = words[(number >> 3) % words.length] ?? ''
      if (word === '') continue
      socket.write(word)
      const answer = await Promise.race([
        once(socket, 'data').then(([chunk]) => String(chunk).slice(9, 12)),
        once(socket, 'close').then(() => 'closed')
        // Who is hung up on while writing is reset.
      ]).catch(() => 'closed')
      socket.resume()
      statuses.set(answer, (statuses.get(answer) ?? 0) + 1)
    }
  }

  /** Opened after all of the crowd so far, and not tried twice. */
  async function comeIn(): Promise<void> {
    const socket = await openTcp(t, { port, from: home })
    socket.write(`GET /v1/account/profile HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\nConnection: close\r\n\r\n`)
    const [answer] = await once(socket, 'data').catch((error: Error) => [`         ${error.message}`])
    if (!String(answer).startsWith('HTTP/1.1 200 '))
      complaints.push(`A request with a token was answered ${String(answer).slice(9, 40).trim()}.`)
    for (const from of [home, '127.0.0.1', `127.200.${seed & 255}.7`]) {
      const refused = await openAccepted(t, { port, from }, { token: ada.token }).then(
        web => web.send('1'),
        (error: Error) => complaints.push(`From ${from} a token was not let in among ${opened} strangers: ${error.message.slice(0, 60)}`)
      )
      await refused
    }
  }

  const attacked = await bystander.waits(async () => {
    for (let time = 1; time <= tries; time += 1) {
      const until = Math.ceil((connections * time) / tries)
      // The first crowd alone was enough to shut everybody out.
      const from = crowds[time <= tries / 2 ? 0 : time % 2 === 0 ? 1 : 2] ?? (() => home)
      await Promise.all(Array.from({ length: atOnce }, () => crowd(until, from)))
      await comeIn()
    }
  })
  const grown = memoryOf(server.child.pid).most - before
  const told = [...statuses].map(([answer, times]) => `${times} × ${answer}`).join(', ')
  return {
    told: `${opened} silent connections were answered ${told}; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [...complaints, ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`])]
  }
}
