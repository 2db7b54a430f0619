import type { HttpResponse } from 'uWebSockets.js'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { setImmediate as turnEnds } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Budget } from '../../../../lib/server/budget.ts'
import { AnswerSender, Client, sendPieces } from '../../../../lib/server/edge/http/answer-sender.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { signUp } from '../../../kit/person.ts'
import { startServer, startServerProcess } from '../../../kit/server.ts'
import { exchange, openTcp } from '../../raw-http.ts'

const mib = 1024 * 1024

t.test('an answer continues where the client stopped reading, and no memory is held once it was sent [B6]', t => {
  const unread = new Budget(100)
  const nothing = { usual: 0, kept: 0 }
  const answerSender = anAnswerSender(t, { unread })
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
  const answerSender = anAnswerSender(t, { unread })
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
  const answerSender = anAnswerSender(t, { clock })
  const allowed = () => Array.from({ length: 300 }, () => answerSender.mayOmitBody()).filter(Boolean).length
  t.equal(allowed(), 200)
  for (let second = 0; second < 2; second++) {
    clock.advance(999)
    t.equal(allowed(), 0)
    clock.advance(1)
    t.equal(allowed(), 200)
  }
  t.end()
})

t.test('HEAD is answered with the length, and ends the connection only where there are too many of its kind', async t => {
  const answerSender = anAnswerSender(t)
  const head = () => {
    const { response, calls } = narrowResponse()
    answerSender.sendHead(response, new Client(), { writeHead: () => calls.push('head'), length: 7 })
    return calls
  }
  t.same(head(), ['head', 'end without body 7 false'])
  for (let more = 1; more < 200; more++) answerSender.mayOmitBody()
  t.same(head(), ['head', 'end without body 7 true'])
})

t.test('of many answers in one turn 32 are sent at once, and the others when it ends', async t => {
  const answerSender = anAnswerSender(t)
  let sent = 0
  const send = (count: number) => {
    const before = sent
    for (let at = 0; at < count; at++) answerSender.sendAsIs(narrowResponse().response, new Client(), () => sent++)
    return sent - before
  }
  t.equal(send(1), 1)
  await turnEnds()
  t.equal(send(32), 32, 'the one of the last turn does not count')
  await turnEnds()
  t.equal(send(40), 32)
  await turnEnds()
  t.equal(sent, 1 + 32 + 40)
  t.equal(send(32), 32)
  await turnEnds()
  t.equal(sent, 1 + 32 + 40 + 32, 'none is sent twice')
})

t.test('a client that has left is sent nothing, also where it left while its answer was due', async t => {
  const answerSender = anAnswerSender(t)
  const sent: string[] = []
  const gone = new Client()
  gone.left()
  answerSender.sendAsIs(narrowResponse().response, gone, () => sent.push('gone'))
  for (let at = 1; at < 32; at++) answerSender.sendAsIs(narrowResponse().response, new Client(), () => {})
  const [leaves, stays] = [new Client(), new Client()]
  answerSender.sendAsIs(narrowResponse().response, leaves, () => sent.push('leaves'))
  answerSender.sendAsIs(narrowResponse().response, stays, () => sent.push('stays'))
  leaves.left()
  await turnEnds()
  t.same(sent, ['stays'])
})

t.test('the last who asked is told once that the client left, and at once if it had left before', t => {
  const told: string[] = []
  const client = new Client()
  client.whenGone(() => told.push('first'))
  client.whenGone(() => told.push('last'))
  t.same([client.isGone, told], [false, []])
  client.left()
  client.left()
  t.same([client.isGone, told], [true, ['last']])
  client.whenGone(() => told.push('late'))
  t.same(told, ['last', 'late'])
  t.end()
})

t.test('a piece is requested when the last one is sent, and continues where the client stopped reading', async t => {
  const { response, room, drain, calls, text } = narrowResponse()
  const body = Buffer.from('abcdefghij')
  const asked: number[] = []
  room(2)
  const whenSent = sendPieces(response, new Client(), {
    total: body.length,
    next(at) {
      if (at >= body.length) throw 'beyond the end'
      asked.push(at)
      return body.subarray(at, at + 4)
    },
    writeHead: () => calls.push('head')
  })
  const state = async () => {
    await turnEnds()
    return [text(), asked]
  }
  t.same(await state(), ['ab', [0]])
  room(1)
  t.notOk(drain())
  t.same(await state(), ['abc', [0]])
  room(1)
  t.ok(drain())
  t.same(await state(), ['abcd', [0, 4]])
  room(3)
  t.notOk(drain())
  t.same(await state(), ['abcdefg', [0, 4]])
  room(3)
  t.ok(drain())
  t.same(await state(), ['abcdefghij', [0, 4, 8]])
  await whenSent
  t.same(calls, ['head'])
})

t.test('an answer in pieces may be empty, or a single byte', async t => {
  const next = () => Buffer.from('x')
  for (const [total, expected, body] of [
    [0, ['head', 'end'], ''],
    [1, ['head'], 'x']
  ] as const) {
    const { response, room, calls, text } = narrowResponse()
    room(10)
    await sendPieces(response, new Client(), { total, next, writeHead: () => calls.push('head') })
    t.same(calls, expected)
    t.equal(text(), body)
  }
})

t.test('nothing is written while a piece is being read, or for a client that has left', async t => {
  const client = new Client()
  const { response, room, drain, calls, got } = narrowResponse()
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const pieces = (at: number) => (at === 0 ? Buffer.from('ab') : promise)
  room(3)
  const whenSent = sendPieces(response, client, { total: 4, next: pieces, writeHead() {} })
  await turnEnds()
  t.ok(drain())
  client.left()
  resolve(Buffer.from('cd'))
  await whenSent
  const next = () => {
    throw new Error('there is nobody to read it for')
  }
  await sendPieces(response, client, { total: 2, next, writeHead: () => calls.push('head') })
  t.same([calls, got.map(String)], [[], ['ab']])
})

t.test('a client that leaves with a piece unread is not waited for', async t => {
  const client = new Client()
  const { response, text, room } = narrowResponse()
  room(1)
  const whenSent = sendPieces(response, client, { total: 4, next: () => Buffer.from('ab'), writeHead() {} })
  await turnEnds()
  client.left()
  await whenSent
  t.equal(text(), 'a')
})

t.test('the last piece counts as sent once the library has all of it', async t => {
  const { response } = narrowResponse()
  response.tryEnd = () => [false, true]
  await t.resolves(sendPieces(response, new Client(), { total: 2, next: () => Buffer.from('ab'), writeHead() {} }))
})

t.test('where a piece cannot be read, the connection of a client that is still there is closed', async t => {
  for (const isGone of [false, true]) {
    const client = new Client()
    const { response, isClosed } = narrowResponse()
    const next = async () => {
      if (isGone) client.left()
      throw new Error('no such bytes')
    }
    await t.rejects(sendPieces(response, client, { total: 2, next, writeHead() {} }), { message: 'no such bytes' })
    t.equal(isClosed(), !isGone)
  }
})

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
  const server = await startServerProcess(t)
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
  // Before its directory is removed, which comes ahead of what was registered after it.
  await server.kill()
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

function anAnswerSender(t: Test, { clock = manualClock(), unread = new Budget(100) } = {}) {
  return new AnswerSender({ clock, unread, onError: t.error })
}

/** A response of the library whose client takes only so many bytes. */
function narrowResponse() {
  const got: Buffer[] = []
  const calls: string[] = []
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
      const whole = Buffer.from(body as string)
      const bytes = whole.subarray(0, free)
      free -= bytes.length
      got.push(bytes)
      return [bytes.length === whole.length, offset() === total]
    },
    getWriteOffset: offset,
    end() {
      calls.push('end')
    },
    endWithoutBody(length: number, isLast: boolean) {
      calls.push(`end without body ${length} ${isLast}`)
    }
  }
  return {
    // Of the library's response it has what is called here.
    response: response as unknown as HttpResponse,
    got,
    text: () => Buffer.concat(got).toString(),
    /** What else was written, in order. */
    calls,
    room(bytes: number) {
      free = bytes
    },
    drain: () => onWritable(offset()),
    isClosed: () => isClosed
  }
}

/** Whether the server has hung up, once what was sent has had its turn. */
async function hasEnded(socket: Socket): Promise<boolean> {
  await turnEnds()
  return socket.destroyed
}

function residentMib(pid: number | undefined): number {
  const [, pages] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')
  return (Number(pages) * 4096) / mib
}
