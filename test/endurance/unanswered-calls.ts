import { setTimeout as delay } from 'node:timers/promises'
import type { Socket } from 'socket.io-client'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openAccepted } from '../server/raw-websocket.ts'
import { Bystander, toldOf } from './bystander.ts'
import { type Keeper, memoryFromNow, memoryOf, mib, type Outcome } from './trial.ts'

const mostMemory = 250 * mib
const calmMs = 1_000
const paramsBytes = 4 * mib
const bodyBytes = 8 * mib
/** What one socket may send in 10 s. */
const callsOfSocket = 30
/** What one token may have under way over HTTP. */
const mostPosts = 32
const attackFrom = '127.0.1.1'
const lastingMs = 3_000
/** Bodies that arrive together have a budget of their own. */
const apartMs = 200

/**
 * Calls with large parameters that nobody answers: first nobody has registered the method, then somebody hears the calls and
 * says nothing; at last over HTTP. Those who called hang up.
 */
export async function unansweredCalls(t: Keeper, { data, sockets }: { data: string; sockets: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const port = Number(new URL(server.url).port)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  // Its network is known from now on.
  await openAccepted(t, { port, from: attackFrom }, { token: ada.token })
  const bystander = await Bystander.at(t, server)
  const calm = await bystander.waits(() => delay(calmMs))
  const complaints: string[] = []
  async function attack(name: string, during: () => Promise<string>): Promise<string> {
    const before = memoryFromNow(server.child.pid)
    let what = ''
    const attacked = await bystander.waits(async () => {
      what = await during()
    })
    const grown = memoryOf(server.child.pid).most - before
    if (grown >= mostMemory) complaints.push(`${name}: the server grew by ${Math.round(grown / mib)} MiB.`)
    return `${name}: ${what}, the server grew by ${Math.round(grown / mib)} MiB; ${toldOf(calm, attacked)}`
  }

  const nobody = await attack('Nobody there', () => overSockets(t, { port, sockets, token: ada.token, method: `${session}:nobody` }))
  const callee = await calleeOf(ada, session)
  const silent = await attack('Nobody answers', () => overSockets(t, { port, sockets, token: ada.token, method: `${session}:silent` }))
  const posted = await attack('Over HTTP', () => overHttp(ada, { method: `${session}:nobody`, posts: Math.min(mostPosts, 4 * sockets) }))
  // Who could not read as fast as all that came was closed, and comes back.
  const isHere = callee.connected || (await calleeOf(ada, session)).connected
  const { ok } = await (await ada.connect()).emitWithAck('rpc-call', { method: `${session}:small`, params: 'c21hbGw=' })
  if (!isHere || !ok) complaints.push('A small call after them was not answered.')
  return { told: [nobody, silent, posted].join('. '), complaints }
}

/** Answers small calls, and hears the others without a word. */
async function calleeOf(ada: Person, session: string): Promise<Socket> {
  const callee = await ada.connect({ clientType: 'session-scoped', sessionId: session })
  callee.on('rpc-request', ({ method }, answer) => {
    if (method.endsWith(':small')) answer('c21hbGw=')
  })
  for (const method of ['silent', 'small']) callee.emit('rpc-register', { method: `${session}:${method}` })
  await callee.emitWithAck('ping')
  return callee
}

async function overSockets(
  t: Keeper,
  { port, sockets, token, method }: { port: number; sockets: number; token: string; method: string }
): Promise<string> {
  let refused = 0
  let closed = 0
  const params = 'a'.repeat(paramsBytes)
  const one = async () => {
    const web = await openAccepted(t, { port, from: attackFrom }, { token })
    const ended = web.ended().then(() => true)
    for (let call = 0; call < callsOfSocket; call += 1)
      if (!(await web.pourText(`42${call}["rpc-call",${JSON.stringify({ method, params })}]`))) break
    if (await Promise.race([ended, delay(lastingMs, false, { ref: false })])) closed += 1
    refused += web.texts.filter(text => text.startsWith('43') && text.includes('"ok":false')).length
    web.hangUp()
  }
  await Promise.all(Array.from({ length: sockets }, one))
  return `${sockets * callsOfSocket} calls of ${paramsBytes / mib} MiB on ${sockets} sockets, ${refused} refused, ${closed} sockets closed`
}

async function overHttp(ada: Person, { method, posts }: { method: string; posts: number }): Promise<string> {
  const params = 'a'.repeat(bodyBytes)
  const asked = []
  for (let call = 0; call < posts; call += 1) {
    const one = ada.call('POST', '/v1/calls', { body: { method, params } })
    asked.push(one)
    await Promise.race([one, delay(apartMs)])
  }
  const byStatus = new Map<number, number>()
  for (const { status } of await Promise.all(asked)) byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
  return `${posts} calls of ${bodyBytes / mib} MiB, answered with ${[...byStatus].map(([status, count]) => `${status} (${count})`).join(', ')}`
}
