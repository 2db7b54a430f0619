import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcp } from '../server/raw-http.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const bursts = 60
const requestsAtOnce = 400
/** Few enough at once that a client which reads has each of them answered. */
const polite = 16
const stuckMs = 20_000

type At = Awaited<ReturnType<typeof startServerProcess>>

/**
 * Clients that send many requests on one connection without waiting, and read no answer. What they cost has an end, and who
 * reads gets the answers in the order of the requests.
 */
export async function pipelining(t: Keeper, { data, connections }: { data: string; connections: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const bystander = await Bystander.at(t, server)
  const ada = await signUp(t, server)
  for (let tag = 0; tag < 6; tag++) await ada.call('POST', '/v1/sessions', { body: { tag: `${tag}`, metadata: 'x'.repeat(9_000) } })
  const readers = [await readInOrder(t, server, polite)]
  const [calmReader] = readers
  const calm = await bystander.waits(() => sleep(2_000))
  const { now: before } = memoryOf(server.child.pid)

  const asked = requestsOf(ada)
  let opened = 0
  const attacked = await bystander.waits(async () => {
    const attackers = Array.from({ length: connections }, async (_, attacker) => {
      const request = asked[attacker % asked.length] ?? ''
      // Half of them wait until the server has taken what was sent; else it would see all as one burst.
      const more = await sendUnread(t, server, { request, restMs: attacker % 2 === 0 ? 0 : 5 })
      opened += more
    })
    readers.push(await readInOrder(t, server, polite), await readInOrder(t, server, 2_000))
    await Promise.all(attackers)
  })
  const grown = memoryOf(server.child.pid).most - before
  const { status } = await ada.call('GET', '/health')
  return {
    told: `${connections} clients sent ${connections * bursts * requestsAtOnce} requests over ${opened} connections and read no answer; the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`,
    complaints: [
      ...(grown <= mostMemory ? [] : [`The server grew by ${Math.round(grown / mib)} MiB.`]),
      ...(status === 200 ? [] : [`A request after it was answered with ${status}.`]),
      ...(calmReader?.answers === polite ? [] : [`Of ${polite} requests sent at once ${calmReader?.answers} were answered.`]),
      ...readers.flatMap(({ complaints }) => complaints)
    ]
  }
}

/** One for each way an answer is made: with and without a body, at once and after a look into the store. */
function requestsOf({ token }: Person): string[] {
  const signedIn = `Authorization: Bearer ${token}\r\n`
  const lines: [string, string?][] = [
    ['GET /nothing'],
    [`GET /${'long/'.repeat(600)}`],
    ['GET /health'],
    ['GET /'],
    ['HEAD /'],
    ['OPTIONS /v1/sessions', 'Origin: http://elsewhere.example\r\n'],
    ['GET /v1/updates/?EIO=3&transport=polling'],
    ['GET /v1/updates/?EIO=4&transport=polling'],
    ['GET /v1/account/profile'],
    ['GET /v1/account/profile', signedIn],
    ['GET /v1/sessions', signedIn],
    ['HEAD /health']
  ]
  return lines.map(([line, headers = '']) => `${line} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`)
}

/** Returns how many connections it took: one that the server has closed is followed by another. */
async function sendUnread(t: Keeper, server: At, { request, restMs }: { request: string; restMs: number }): Promise<number> {
  const atOnce = restMs === 0 ? requestsAtOnce : polite
  const burst = Buffer.from(request.repeat(atOnce))
  let line: Line | undefined
  let opened = 0
  for (let sent = 0; sent < bursts * requestsAtOnce; sent += atOnce) {
    if (!line || line.socket.destroyed) {
      line = await Line.to(t, server)
      line.socket.pause()
      opened += 1
    }
    // Where the server reads no more, this one has done what it can.
    if (!line.socket.write(burst) && !(await line.drained(stuckMs))) break
    if (restMs > 0) await sleep(restMs)
  }
  return opened
}

/** Sends so many requests at once and reads: the answers that come are those to the first requests, in order. */
async function readInOrder(t: Keeper, server: At, count: number): Promise<{ answers: number; complaints: string[] }> {
  const { socket, isOver } = await Line.to(t, server)
  let text = ''
  const { promise: isAnswered, resolve } = Promise.withResolvers<void>()
  socket.setEncoding('latin1').on('data', more => {
    text += more
    if (text.includes(`"/nothing/${count - 1}"`)) resolve()
  })
  socket.write(Array.from({ length: count }, (_, at) => `GET /nothing/${at} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
  await Promise.race([isAnswered, isOver])
  const answers = [...text.matchAll(/"path":"\/nothing\/(\d+)"/g)].map(([, at]) => Number(at))
  const isInOrder = answers.every((at, index) => at === index)
  return { answers: answers.length, complaints: isInOrder ? [] : [`${count} requests sent at once were answered in another order.`] }
}

/** A connection, and when it ends. */
class Line {
  readonly socket: Socket
  readonly isOver: Promise<unknown>
  #onDrained = () => {}

  static async to(t: Keeper, server: At): Promise<Line> {
    return new Line(await openTcp(t, { port: Number(new URL(server.url).port) }))
  }

  private constructor(socket: Socket) {
    this.socket = socket
    this.isOver = new Promise(resolve => socket.on('close', resolve))
    socket.on('close', () => this.#onDrained())
    socket.on('drain', () => this.#onDrained())
  }

  /** Whether what was written has left within so long, or the connection ended. */
  async drained(withinMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#onDrained = () => resolve(true)
    const patience = setTimeout(() => resolve(false), withinMs)
    const isDrained = await promise
    clearTimeout(patience)
    return isDrained
  }
}
