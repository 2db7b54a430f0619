import type { HttpResponse } from 'uWebSockets.js'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Budget } from '../../../../lib/server/budget.ts'
import { AnswerSender, Client } from '../../../../lib/server/edge/http/answer-sender.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { signUp } from '../../../kit/person.ts'
import { startServer, startServerProcess } from '../../../kit/server.ts'
import { exchange, openTcp } from '../../raw-http.ts'

const mib = 1024 * 1024

/** Asks, and reads nothing but the first bytes of the answer. */
async function askAndStall(t: Test, server: { port: number }, token: string, path: string) {
  const socket = await openTcp(t, server)
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  const [first] = await once(socket, 'data')
  socket.pause()
  return { socket, status: Number(String(first).split(' ')[1]) }
}

async function fillSession(ada: Awaited<ReturnType<typeof signUp>>) {
  const session = await ada.openSession()
  for (const localId of ['a', 'b', 'c', 'd']) await ada.send(session, { localId, content: 'x'.repeat(4 * mib) })
  return `/v3/sessions/${session}/messages`
}

t.test('a large answer read slowly arrives complete, and an abandoned one holds no memory [B6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const path = await fillSession(ada)
  // Together these are more than answers that nobody reads may hold.
  for (let round = 0; round < 20; round++) {
    const { socket, status } = await askAndStall(t, server, ada.token, path)
    if (status !== 200) t.equal(status, 200, `round ${round}`)
    const closed = once(socket, 'close')
    socket.resetAndDestroy()
    await closed
  }
  const { status, body } = await ada.call('GET', path)
  t.equal(status, 200)
  t.same(
    body.messages.map((message: { content: { c: string } }) => message.content.c.length),
    [4 * mib, 4 * mib, 4 * mib, 4 * mib]
  )
})

t.test('however many clients do not read, the server holds a bounded amount of their answers [B6]', async t => {
  const data = t.testdir()
  const server = await startServerProcess(t, { data })
  const port = Number(new URL(server.url).port)
  const ada = await signUp(t, server)
  const path = await fillSession(ada)
  await ada.call('GET', path)
  const before = residentMib(server.child.pid)
  const statuses: number[] = []
  for (let reader = 0; reader < 22; reader++) statuses.push((await askAndStall(t, { port }, ada.token, path)).status)
  const held = residentMib(server.child.pid) - before
  t.ok(statuses.includes(200))
  t.ok(statuses.includes(503), 'those beyond are asked to come again')
  t.ok(held < 450, `${Math.round(held)} MiB for 22 readers of 16 MiB`)
})

t.test('a connection with an unread answer is closed at its next request [B6]', async t => {
  const server = await startServer(t)
  const socket = await openTcp(t, server)
  socket.pause()
  const path = (at: number) => `/${at}/${'long/'.repeat(600)}`
  let asked = 0
  // Far more than the buffers of two sockets; who answered all would hold the rest in memory.
  for (; asked < 20_000 && !socket.destroyed && socket.readyState === 'open'; asked++) {
    socket.write(`GET ${path(asked)} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    if (asked % 8 === 7 && (await hasEnded(socket))) break
  }
  t.ok(asked < 20_000, `closed after ${asked} requests`)
})

t.test('of many requests sent at once the first are answered, and others get their turn [B6]', async t => {
  const server = await startServer(t)
  const ask = async (count: number) => {
    const socket = await openTcp(t, server)
    const paths = Array.from({ length: count }, (_, at) => `/nothing/${at}`)
    let text = ''
    const { promise: isAnswered, resolve } = Promise.withResolvers<void>()
    socket.setEncoding('latin1').on('data', more => {
      text += more
      if (text.includes(`"/nothing/${count - 1}"`)) resolve()
    })
    socket.write(paths.map(path => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''))
    await Promise.race([isAnswered, new Promise(resolve => socket.on('close', resolve))])
    const answered = [...text.matchAll(/"path":"([^"]*)"/g)].map(([, path]) => path)
    t.same(answered, paths.slice(0, answered.length), 'in the order of the requests')
    return answered.length
  }
  t.equal(await ask(16), 16)
  t.ok((await ask(2_000)) <= 32)
  t.equal(await ask(16), 16, 'also after that')
})

t.test('an answer continues where the client stopped reading, and no memory is held once it was sent [B6]', t => {
  const unread = new Budget(100)
  const nothing = { usual: 0, kept: 0 }
  const answerSender = new AnswerSender({ clock: manualClock(), unread, onError: t.error })
  const { response, got, room, drain } = narrowResponse()
  let left = 0
  const body = 'abcdéfgh'.repeat(5)
  room(10)
  answerSender.send(response, new Client(), { writeHead() {}, body, owner: 'ada', onLeft: () => left++ })
  t.notOk(unread.roomFor('ada', nothing, 10), 'half of what there is belongs to one account')
  for (const bytes of [0, 1, 20]) {
    room(bytes)
    t.notOk(drain())
  }
  t.equal(left, 0)
  room(100)
  t.ok(drain())
  t.equal(Buffer.concat(got).toString(), body)
  t.equal(left, 1)
  t.ok(unread.roomFor('ada', nothing, 50))
  t.end()
})

t.test('when memory is short, clients with unread answers are closed, and those that disconnect hold nothing [B6]', t => {
  const unread = new Budget(100)
  const answerSender = new AnswerSender({ clock: manualClock(), unread, onError: t.error })
  const send = () => {
    const client = new Client()
    const { response, isClosed } = narrowResponse()
    answerSender.send(response, client, { writeHead() {}, body: 'x'.repeat(40), owner: 'ada' })
    return { client, isClosed }
  }
  const first = send()
  const second = send()
  t.notOk(first.isClosed())
  t.ok(second.isClosed())
  first.client.left()
  t.notOk(send().isClosed())
  t.end()
})

t.test('a failure while sending late answers does not stop the others', t => {
  const met: unknown[] = []
  const answerSender = new AnswerSender({ clock: manualClock(), unread: new Budget(100), onError: error => met.push(error) })
  const sent: number[] = []
  for (let at = 0; at < 35; at++) {
    const { response, room } = narrowResponse()
    room(10)
    const writeHead = () => {
      if (at === 33) throw 'fail'
      sent.push(at)
    }
    answerSender.send(response, new Client(), { writeHead, body: 'x' })
  }
  t.equal(sent.length, 32)
  answerSender.flush()
  t.same(sent.slice(32), [32, 34])
  t.same(met, ['fail'])
  t.end()
})

t.test('answers without a body, which cannot be seen unread, are limited per second', t => {
  const clock = manualClock()
  const answerSender = new AnswerSender({ clock, unread: new Budget(100), onError: t.error })
  const allowed = () => Array.from({ length: 300 }, () => answerSender.mayOmitBody()).filter(Boolean).length
  t.equal(allowed(), 200)
  clock.advance(1_000)
  t.equal(allowed(), 200)
  t.end()
})

t.test('HEAD is answered however many requests without a body others send, and keeps no connection to send more over [B6]', async t => {
  const server = await startServer(t, { clock: manualClock() })
  const options = 'OPTIONS /v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n'
  for (let at = 2; at < 10; at++) {
    const socket = await openTcp(t, { port: server.port, from: `127.0.0.${at}` })
    const { promise, resolve } = Promise.withResolvers<void>()
    let text = ''
    socket.setEncoding('latin1').on('data', more => {
      text += more
      if (text.match(/HTTP\/1.1 20/g)?.length === 32) resolve()
    })
    socket.write(options.repeat(32))
    await promise
  }
  for (const path of ['/health', '/', '/v1/nothing']) {
    const head = await exchange(t, server, `HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    t.match(head, /^HTTP\/1.1 (200|404) /)
    t.match(head, /connection: close\r\n/i)
  }
})

/** A response of the library whose client takes only so many bytes. */
function narrowResponse() {
  const got: Buffer[] = []
  let free = 0
  let isClosed = false
  let onWritable = (_offset: number) => true
  const offset = () => got.reduce((sum, { length }) => sum + length, 0)
  const response = {
    cork: (write: () => void) => write(),
    onWritable(handler: typeof onWritable) {
      onWritable = handler
    },
    close() {
      isClosed = true
    },
    tryEnd(body: string | Uint8Array, total: number) {
      const bytes = Buffer.from(body as string).subarray(0, free)
      free -= bytes.length
      got.push(bytes)
      return [bytes.length === body.length, offset() === total]
    }
  }
  return {
    // Of the library's response it has what AnswerSender calls.
    response: response as unknown as HttpResponse,
    got,
    room(bytes: number) {
      free = bytes
    },
    drain: () => onWritable(offset()),
    isClosed: () => isClosed
  }
}

/** Whether the server has hung up, once what was sent has had its turn. */
async function hasEnded(socket: Socket): Promise<boolean> {
  await new Promise(setImmediate)
  return socket.destroyed
}

function residentMib(pid: number | undefined): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
  return (Number(pages) * 4096) / mib
}
