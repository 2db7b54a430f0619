import { setTimeout as delay } from 'node:timers/promises'
import { next, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { ask } from '../server/raw-polling.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const handshake = '/v1/updates/?EIO=4&transport=polling'
const mostMemory = 256 * mib
const atOnce = 50
const calmMs = 1_000

/** Strangers that begin connections by polling and post nonsense on them. Who is signed in goes on, and memory has an end. */
export async function pollingFlood(t: Keeper, { data, connections }: { data: string; connections: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const { now: before } = memoryOf(server.child.pid)
  const statuses = new Map<number, number>()
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)

  let begun = 0
  const flood = async () => {
    while (begun < connections) {
      begun += 1
      const { status, text } = await ask(server, handshake)
      count(status)
      if (status !== 200) continue
      const { sid } = JSON.parse(text.slice(1))
      const nonsense = ['4', '40{"token":"none"}', '9', '\u001e\u001e', `42${'['.repeat(500)}`, 'b!!', ''][begun % 7] ?? ''
      count((await ask(server, `${handshake}&sid=${sid}`, { method: 'POST', body: nonsense })).status)
    }
  }
  const attacked = await bystander.waits(() => Promise.all(Array.from({ length: atOnce }, flood)))
  const grown = memoryOf(server.child.pid).most - before
  const heard = next(socket, 'update')
  const { status } = await ada.send(session, { localId: 'after' })
  await heard
  const told = [...statuses].map(([answer, times]) => `${times} × ${answer}`).join(', ')
  return {
    told: `${begun} connections by polling were answered ${told}; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [
      ...(status === 200 ? [] : [`A message was answered with ${status}.`]),
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`]),
      ...[...statuses.keys()]
        .filter(answer => ![200, 400, 413, 429].includes(answer))
        .map(answer => `Somebody was answered with ${answer}.`)
    ]
  }
}
