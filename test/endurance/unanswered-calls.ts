import { setTimeout as delay } from 'node:timers/promises'
import type { Socket } from 'socket.io-client'
import { type Person, signUp } from '../kit/person.ts'
import { startServerProcess } from '../kit/server.ts'
import { openAccepted, type RawWebSocket, type Way } from '../server/raw-websocket.ts'
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
/** Sockets of one account that may send calls as large as these, and how many of these it may send at once, and from then on. */
const wide = { sockets: 3, paramsBytes: 20 * mib, atOnce: 6, everyMs: 1_600 }
const wideFrom = '127.0.2.1'
/** Whoever hears them has no such socket. */
const heardFrom = '127.0.3.1'

/**
 * Calls with large parameters that nobody answers: first nobody has registered the method, then somebody hears the calls and
 * says nothing; then over HTTP. Those who called hang up. At last the largest ones, which are answered.
 */
export async function unansweredCalls(t: Keeper, { data, sockets }: { data: string; sockets: number }): Promise<Outcome> {
  const server = await startServerProcess(t, { data, limits: 'default' })
  const port = Number(new URL(server.url).port)
  const [ada, eve] = [await signUp(t, server), await signUp(t, server)]
  const session = await ada.openSession()
  await wantLarge(t, { port, from: attackFrom }, ada)
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

  // Each account has 128 MiB at once; what eve has used is there again when the others have had their turn.
  const nobody = await attack('Nobody there', () => overSockets(t, { port, sockets, token: eve.token, method: `${session}:nobody` }))
  const callee = await calleeOf(ada, session)
  const silent = await attack('Nobody answers', () => overSockets(t, { port, sockets, token: ada.token, method: `${session}:silent` }))
  const posted = await attack('Over HTTP', () => overHttp(ada, { method: `${session}:nobody`, posts: Math.min(mostPosts, 4 * sockets) }))
  // Who could not read as fast as all that came was closed, and comes back.
  const isHere = callee.connected || (await calleeOf(ada, session)).connected
  const { ok, error } = await (await ada.connect()).emitWithAck('rpc-call', { method: `${session}:small`, params: 'c21hbGw=' })
  if (!isHere || !ok) complaints.push(`A small call after them was answered with ${error}.`)
  const calls = Math.max(wide.sockets, sockets)
  const largest = await attack('Answered', async () => {
    const { told, answered, refused } = await onWideSockets(t, eve, { port, calls })
    if (answered === 0 || answered + refused < calls) complaints.push(`Of the largest calls: ${told}.`)
    return told
  })
  return { told: [nobody, silent, posted, largest].join('. '), complaints }
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
    const web = await openOrComeBack(() => openAccepted(t, { port, from: attackFrom }, { token }))
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

/** Where somebody has signed in before, what is too large for a socket ends it, and those that come after it may send as much. */
async function wantLarge(t: Keeper, at: Way, { token }: Person): Promise<void> {
  const known = await openAccepted(t, at, { token })
  const first = await openAccepted(t, at, { token })
  await first.pourText('x'.repeat(2 * mib))
  await first.ended()
  known.hangUp()
}

/** For whom there is no place for large calls is closed, and finds one for others. */
function openOrComeBack(open: () => Promise<RawWebSocket>): Promise<RawWebSocket> {
  return open().catch(open)
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

/** Calls as large as they may be, as often as they may come, on all sockets that may send them. Another reads and answers them. */
async function onWideSockets(
  t: Keeper,
  eve: Person,
  { port, calls }: { port: number; calls: number }
): Promise<{ told: string; answered: number; refused: number }> {
  const sessionId = await eve.openSession()
  const method = `${sessionId}:large`
  const callee = await openAccepted(t, { port, from: heardFrom }, { token: eve.token, clientType: 'session-scoped', sessionId })
  callee.send(`42["rpc-register",${JSON.stringify({ method })}]`)
  const answering = answerAll(callee)
  const open = () => openAccepted(t, { port, from: wideFrom }, { token: eve.token })
  await wantLarge(t, { port, from: wideFrom }, eve)
  const text = `["rpc-call",${JSON.stringify({ method, params: 'a'.repeat(wide.paramsBytes) })}]`
  const beganAt = performance.now()
  let begun = 0
  let answered = 0
  let refused = 0
  const one = async () => {
    const web = await open()
    while (begun < calls) {
      const number = begun
      begun += 1
      await delay(Math.max(0, (number + 1 - wide.atOnce) * wide.everyMs - (performance.now() - beganAt)))
      await web.pourText(`42${number}${text}`)
      const answer = await answerOf(web, `43${number}`)
      if (answer === undefined) break
      if (answer.includes('"ok":true')) answered += 1
      else refused += 1
    }
    web.hangUp()
  }
  await Promise.all(Array.from({ length: wide.sockets }, one))
  const seconds = (performance.now() - beganAt) / 1000
  callee.hangUp()
  await answering
  const told = `${answered} of ${calls} calls of ${wide.paramsBytes / mib} MiB on ${wide.sockets} sockets in ${seconds.toFixed(1)} s, ${refused} refused`
  return { told, answered, refused }
}

async function answerAll(callee: RawWebSocket): Promise<void> {
  for (let text = await callee.next(); text !== undefined; text = await callee.next()) {
    const [, id] = /^42(\d+)\["rpc-request"/.exec(text.slice(0, 40)) ?? []
    if (text === '2') callee.send('3')
    else if (id !== undefined) callee.send(`43${id}["c21hbGw="]`)
  }
}

/** Undefined once the connection has ended. */
async function answerOf(web: RawWebSocket, start: string): Promise<string | undefined> {
  for (let text = await web.next(); text !== undefined; text = await web.next()) {
    if (text === '2') web.send('3')
    else if (text.startsWith(`${start}[`)) return text
  }
  return undefined
}
