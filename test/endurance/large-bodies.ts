import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openAccepted } from '../server/raw-websocket.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
const bodyMib = 31
/** Between two refusals. */
const pauseMs = 50

/** One account with bodies and events as large as are taken, from several connections at once, without heed of refusals. */
export async function largeBodies(t: Keeper, { data, megabytes }: { data: string; megabytes: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const eve = await signUp(t, server)
  const session = await eve.openSession()
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const { now: before } = memoryOf(server.child.pid)
  const statuses = new Map<number, number>()
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1)
  let begun = 0
  const mayBegin = () => {
    begun += bodyMib
    return begun <= megabytes
  }
  const large = 'x'.repeat(bodyMib * mib)
  const bodies: [path: string, body: () => unknown][] = [
    ['/v1/artifacts', () => ({ id: crypto.randomUUID(), header: 'h', body: large, dataEncryptionKey: 'k' })],
    ['/v1/kv', () => ({ mutations: [{ key: 'k', value: large, version: -1 }] })],
    ['/v1/sessions', () => ({ tag: 't', metadata: large })]
  ]
  const post = async ([path, body]: (typeof bodies)[number]) => {
    const agent = new Agent({ keepAlive: true })
    while (mayBegin()) {
      const status = await send({ url: server.url + path }, agent, eve, body())
      count(status)
      if (status !== 200) await delay(pauseMs)
    }
    agent.destroy()
  }
  const emit = async () => {
    while (mayBegin()) {
      const socket = await openAccepted(t, { port: Number(new URL(server.url).port) }, { token: eve.token }).catch(() => undefined)
      if (!socket) {
        count(4029)
        await delay(pauseMs)
        continue
      }
      socket.send(`420["message",${JSON.stringify({ sid: session, localId: crypto.randomUUID(), message: large })}]`)
      let text = await socket.next()
      while (text !== undefined && !text.startsWith('430')) text = await socket.next()
      count(text === undefined ? 4029 : 200)
      socket.send('1')
      if (text === undefined) await delay(pauseMs)
    }
  }
  const beganAt = performance.now()
  const attacked = await bystander.waits(() => Promise.all([...bodies.map(post), emit()]))
  const seconds = (performance.now() - beganAt) / 1000
  const grown = memoryOf(server.child.pid).most - before
  const told = [...statuses].map(([answer, times]) => `${times} × ${answer}`).join(', ')
  return {
    told: `${megabytes} MiB of bodies and events of ${bodyMib} MiB in ${seconds.toFixed(0)} s were answered ${told}; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [
      ...(grown < mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`]),
      ...[...statuses.keys()]
        .filter(answer => ![200, 400, 413, 429, 503, 507, 4029].includes(answer))
        .map(answer => `Somebody was answered with ${answer}.`)
    ]
  }
}

function send(server: { url: string }, agent: Agent, { token }: Person, body: unknown): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const text = JSON.stringify(body)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': text.length }
  const asked = request(server.url, { method: 'POST', headers, agent }, answer => {
    answer.resume().once('close', () => resolve(answer.statusCode ?? 0))
  })
  // Refused before it was sent to its end.
  asked.on('error', () => resolve(413)).end(text)
  return promise
}
