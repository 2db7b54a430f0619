import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcp } from '../server/raw-http.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryFromNow, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
const messages = 64
const content = 'x'.repeat(64 * 1024)
/** Lists that each of many accounts asks for at once, which it may. */
const listsOfAccount = 12

/** A long list that one account asks for on many connections at once, then lists of many accounts, all of whom get theirs. */
export async function longLists(
  t: Keeper,
  { data, connections, accounts }: { data: string; connections: number; accounts: number }
): Promise<Outcome> {
  const lists = await fill(t, { data, accounts: 1 + accounts })
  const server = await startServerProcess(t, { data, limits: 'default' })
  const at = { port: Number(new URL(server.url).port) }
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const complaints: string[] = []

  async function attack(name: string, asked: readonly List[], expected: readonly string[]): Promise<string> {
    const before = memoryFromNow(server.child.pid)
    const answers = new Map<string, number>()
    const connections = await Promise.all(asked.map(async list => ({ list, socket: await openTcp(t, at) })))
    const one = async ({ list, socket }: (typeof connections)[number]) => {
      const what = await read(socket, list)
      answers.set(what, (answers.get(what) ?? 0) + 1)
    }
    const attacked = await bystander.waits(() => Promise.all(connections.map(one)))
    const grown = memoryOf(server.child.pid).most - before
    if (grown >= mostMemory) complaints.push(`${name}: the server grew by ${Math.round(grown / mib)} MiB.`)
    if (!answers.has('200')) complaints.push(`${name}: nobody got a list.`)
    for (const [what, times] of answers) if (!expected.includes(what)) complaints.push(`${name}: ${times} were answered ${what}.`)
    const told = [...answers].map(([what, times]) => `${times} × ${what}`).join(', ')
    return `${name}: ${asked.length} lists of ${(messages * content.length) / mib} MiB were answered ${told}, the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`
  }

  const [list, ...others] = lists
  const alone = await attack('One account', list ? Array(connections).fill(list) : [], ['200', '429'])
  const together = await attack('Many accounts', Array(listsOfAccount).fill(others).flat(), ['200'])
  return { told: `${alone}. ${together}`, complaints }
}

interface List {
  person: Person
  session: string
}

/** Accounts with a long session each. Another server reads them, whose memory begins small. */
async function fill(t: Keeper, { data, accounts }: { data: string; accounts: number }): Promise<List[]> {
  const server = await startServerProcess(t, { data })
  const lists = []
  for (let number = 0; number < accounts; number += 1) {
    const person = await signUp(t, server)
    const session = await person.openSession()
    const { status } = await person.send(session, ...Array.from({ length: messages }, (_, message) => ({ localId: `${message}`, content })))
    if (status !== 200) throw new Error(`A session was filled with ${status}.`)
    lists.push({ person, session })
  }
  await server.kill()
  return lists
}

/** The status of the answer; how much of it came if that is not all. */
async function read(socket: Socket, { person: { token }, session }: List): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let head = ''
  let left = Number.POSITIVE_INFINITY
  socket.on('data', chunk => {
    if (head === '') {
      // The first chunk has all of the head.
      head = chunk.toString('latin1', 0, chunk.indexOf('\r\n\r\n') + 4)
      left = Number(/^content-length: (\d+)/im.exec(head)?.[1]) + head.length
    }
    left -= chunk.length
    if (left === 0) resolve()
  })
  socket.on('close', () => resolve())
  socket.write(
    `GET /v3/sessions/${session}/messages?limit=${messages} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`
  )
  await promise
  socket.destroy()
  const status = head.slice(9, 12)
  return left === 0 ? status : `${status || 'with nothing'}, and ${left} bytes were missing`
}
