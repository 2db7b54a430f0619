import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcp, readAnswer } from '../server/raw-http.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
/** Connections that are open before the first of them asks. */
const atOnce = 500
/** Where somebody is who asked before them. */
const home = '127.8.8.8'

const key = () => randomBytes(32).toString('base64')

/** Strangers, each in a network of its own, begin a pairing of each kind. All are answered, and who asked before them still waits. */
export async function pairingFlood(t: Keeper, { data, addresses }: { data: string; addresses: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const port = Number(new URL(server.url).port)
  const ada = await signUp(t, server)
  const publicKey = key()
  const own = await openTcp(t, { port, from: home })
  await post(own, '/v1/auth/request', { publicKey })
  const { id } = (await post(own, '/v2/pairings', terminal())).body
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const { now: before } = memoryOf(server.child.pid)
  const statuses = new Map<number, number>()
  const count = ({ status }: { status: number }) => statuses.set(status, (statuses.get(status) ?? 0) + 1)

  const attacked = await bystander.waits(async () => {
    for (let begun = 0; begun < addresses; begun += atOnce) {
      const numbers = Array.from({ length: Math.min(atOnce, addresses - begun) }, (_, number) => begun + number)
      const sockets = await Promise.all(numbers.map(number => openTcp(t, { port, from: addressOf(number) })))
      const one = async (socket: Socket) => {
        count(await post(socket, '/v1/auth/request', { publicKey: key() }))
        count(await post(socket, '/v2/pairings', terminal()))
        socket.destroy()
      }
      await Promise.all(sockets.map(one))
    }
  })
  const grown = memoryOf(server.child.pid).most - before
  const { body: legacy } = await ada.call('GET', `/v1/auth/request/status?publicKey=${encodeURIComponent(publicKey)}`)
  const { body: ours } = await ada.call('GET', `/v2/pairings/${id}`)
  const told = [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')
  return {
    told: `${2 * addresses} pairings from ${addresses} addresses were answered ${told}; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [
      ...(statuses.get(200) === 2 * addresses ? [] : [`Of ${2 * addresses} pairings ${statuses.get(200) ?? 0} were begun.`]),
      ...(legacy.status === 'pending' ? [] : [`The pairing that waited before them is ${legacy.status}.`]),
      ...(ours.state === 'waiting' ? [] : [`The pairing of ours that waited before them is ${ours.state ?? ours.error}.`]),
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`])
    ]
  }
}

/** Each in another /24: of one that has more waiting than others, the next is rightly refused. */
function addressOf(number: number): string {
  return `127.${20 + (number >> 8)}.${number & 255}.1`
}

function terminal() {
  return { kind: 'terminal', publicKey: key(), deviceKey: key(), pollHash: key() }
}

/** On a connection that is kept. */
async function post(socket: Socket, path: string, body: unknown): Promise<ReturnType<typeof readAnswer>> {
  const text = JSON.stringify(body)
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
  )
  const hungUp = () => ['']
  const [chunk] = await Promise.race([once(socket, 'data'), once(socket, 'close').then(hungUp)]).catch(hungUp)
  return chunk === '' ? { status: 0, headers: {}, body: undefined } : readAnswer(String(chunk))
}
