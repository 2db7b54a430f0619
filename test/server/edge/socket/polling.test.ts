import { once } from 'node:events'
import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import { Budget } from '../../../../lib/server/budget.ts'
import { AnswerSender } from '../../../../lib/server/edge/http/answer-sender.ts'
import { WriteTurn } from '../../../../lib/server/edge/http/write-turn.ts'
import { Strangers } from '../../../../lib/server/edge/listen/strangers.ts'
import { Backlog } from '../../../../lib/server/edge/socket/backlog.ts'
import { AdmittedConnection } from '../../../../lib/server/edge/socket/connection-admission.ts'
import { Heartbeat } from '../../../../lib/server/edge/socket/heartbeat.ts'
import { PollingClients } from '../../../../lib/server/edge/socket/polling.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { openTcp, readAnswer } from '../../raw-http.ts'
import { ask, openAcceptedPolling, openPolling, seqsIn } from '../../raw-polling.ts'

const megabyte = 1024 * 1024
const endpoint = '/v1/updates/'
const unknown = { code: 1, message: 'Session ID unknown' }
const bad = { code: 3, message: 'Bad request' }

t.test('the first poll opens a connection, and WebSocket is offered', async t => {
  const server = await startServer(t)
  const { status, headers, text } = await ask(server, `${endpoint}?EIO=4&transport=polling&t=abc`)
  t.equal(status, 200)
  t.match(headers.get('content-type'), 'text/plain')
  t.equal(headers.get('cache-control'), 'no-store')
  t.equal(text[0], '0')
  const { sid, ...rest } = JSON.parse(text.slice(1))
  t.match(sid, /^[a-z2-7]{24}$/)
  t.same(rest, { upgrades: ['websocket'], pingInterval: 15_000, pingTimeout: 45_000, maxPayload: 24 * megabyte })
})

t.test("invalid requests are rejected with Engine.IO's errors", async t => {
  const server = await startServer(t)
  const { sid } = await openPolling(server)
  const table: [method: string, query: string, code: number, message: string][] = [
    ['GET', 'transport=polling', 5, 'Unsupported protocol version'],
    ['GET', 'EIO=3&transport=polling', 5, 'Unsupported protocol version'],
    ['GET', 'EIO=abc&transport=polling', 5, 'Unsupported protocol version'],
    ['GET', 'EIO=4', 0, 'Transport unknown'],
    ['GET', 'EIO=4&transport=abc', 0, 'Transport unknown'],
    ['GET', 'EIO=4&transport=constructor', 0, 'Transport unknown'],
    ['POST', 'EIO=4&transport=polling', 2, 'Bad handshake method'],
    ['PUT', 'EIO=4&transport=polling', 2, 'Bad handshake method'],
    ['GET', 'EIO=4&transport=polling&sid=', 1, 'Session ID unknown'],
    ['GET', 'EIO=4&transport=polling&sid=constructor', 1, 'Session ID unknown'],
    ['POST', `EIO=4&transport=polling&sid=${sid}x`, 1, 'Session ID unknown'],
    ['GET', `EIO=4&transport=websocket&sid=${sid}`, 3, 'Bad request'],
    ['PUT', `EIO=4&transport=polling&sid=${sid}`, 3, 'Bad request'],
    ['DELETE', `EIO=4&transport=polling&sid=${sid}`, 3, 'Bad request']
  ]
  for (const [method, query, code, message] of table) {
    const { status, text } = await ask(server, `${endpoint}?${query}`, { method })
    t.equal(status, 400, `${method} ${query}`)
    t.same(JSON.parse(text), { code, message }, `${method} ${query}`)
  }
})

t.test('pages of other origins may poll', async t => {
  const server = await startServer(t)
  const headers = { origin: 'https://elsewhere.example' }
  const polling = await openPolling(server)
  for (const { headers: got } of [
    await ask(server, `${endpoint}?EIO=4&transport=polling`, { headers }),
    await polling.request({ method: 'POST', body: '3', headers }),
    await polling.request({ method: 'POST', body: 'broken', headers })
  ]) {
    t.equal(got.get('access-control-allow-origin'), '*')
  }
  const asked = { ...headers, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
  const { status, headers: got } = await ask(server, polling.path, { method: 'OPTIONS', headers: asked })
  t.equal(status, 204)
  t.match(got.get('access-control-allow-methods'), 'POST')
  t.equal(got.get('access-control-allow-headers'), 'content-type')
})

t.test('one body carries many packets, in both directions', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const polling = await openAcceptedPolling(server, { token: ada.token })
  for (const [body, answer] of [
    ['421["ping"]', ['431[{}]']],
    ['421["ping"]\x1e3\x1e422["ping"]\x1e6\x1e423["ping"]', ['431[{}]', '432[{}]', '433[{}]']],
    ['4515-1["rpc-call",{"method":{"_placeholder":true,"num":0}}]', undefined]
  ] as const) {
    const { status, text } = await polling.post(body)
    if (answer === undefined) {
      t.equal(status, 400)
      continue
    }
    t.same([status, text], [200, 'ok'])
    t.same(await polling.packets(), answer)
  }
})

t.test('bytes are sent as base64 between the texts', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const polling = await openAcceptedPolling(server, { token: ada.token })
  const call = '451-1["rpc-call",{"method":"x","params":{"_placeholder":true,"num":0}}]'
  t.equal((await polling.post(`${call}\x1ebAQIDBA==\x1e422["ping"]`)).text, 'ok')
  const answers = await polling.packets()
  t.match(answers.sort()[0], /^431\[\{"ok":false,"error":/)
  t.equal(answers[1], '432[{}]')
})

const brokenBodies: [body: string | Uint8Array<ArrayBuffer>, what: string][] = [
  ['abc', 'no packet'],
  ['', 'nothing'],
  ['\x1e', 'empty packets'],
  ['3\x1e', 'an empty last packet'],
  ['4', 'an empty message'],
  ['0', 'an open packet'],
  ['2', 'a ping, which only the server sends'],
  ['2probe', 'a probe, which belongs on the WebSocket'],
  ['bAQID', 'bytes nobody announced'],
  ['b', 'no bytes nobody announced'],
  ['b!?', 'bytes that are no base64'],
  ['4abc', 'a message that is no packet of Socket.IO'],
  ['42{}', 'an event without a name'],
  ['42abc["ping"]', 'an event with a strange id'],
  [new Uint8Array([0x34, 0x32, 0xc0, 0x80, 0xff]), 'what is not UTF-8'],
  ['\x1e'.repeat(megabyte), 'a million separators'],
  [`${'6\x1e'.repeat(megabyte)}6`, 'a million packets']
]

t.test('a broken body ends its own connection and nothing else [N5, N6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const witness = await openAcceptedPolling(server, { token: ada.token })
  for (const [body, what] of brokenBodies) {
    const polling = await openAcceptedPolling(server, { token: ada.token })
    const { status, text } = await polling.post(body)
    t.same([status, JSON.parse(text)], [400, bad], what)
    const after = await polling.get()
    t.same([after.status, JSON.parse(after.text)], [400, unknown], what)
  }
  await witness.post('421["ping"]')
  t.same(await witness.packets(), ['431[{}]'])
})

t.test('a POST is answered after the frames that it caused', async t => {
  const written: string[] = []
  const serve = pollingWith(text => written.push(text))
  serve('GET', 'EIO=4&transport=polling')
  await turnEnds()
  t.match(written, [/^0\{"sid":"ada"/])
  serve('GET', 'EIO=4&transport=polling&sid=ada')
  serve('POST', 'EIO=4&transport=polling&sid=ada', '4hello')
  await turnEnds()
  t.same(written.slice(1), ['4you said hello', 'ok'])
})

t.test('everything after a broken packet is ignored', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const polling = await openAcceptedPolling(server, { token: ada.token })
  const event = (localId: string) => `42${JSON.stringify(['message', { sid: session, message: 'aGk=', localId }])}`
  await polling.post(`${event('before')}\x1ex\x1e${event('after')}`)
  const { body } = await ada.send(session, { localId: 'last' })
  t.equal(body.messages[0].seq, 2)
})

t.test('two simultaneous polls end the connection', async t => {
  const server = await startServer(t)
  const polling = await openPolling(server)
  const first = polling.get()
  const second = await polling.get()
  t.same([second.status, JSON.parse(second.text)], [400, bad])
  t.same((await first).text, '1')
  t.same(JSON.parse((await polling.get()).text), unknown)
})

t.test('an aborted poll ends the connection', async t => {
  const server = await startServer(t)
  const polling = await openPolling(server)
  const tcp = await openTcp(t, server)
  tcp.write(`GET ${polling.path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  // Answered after the poll was seen.
  await ask(server, '/health')
  tcp.destroy()
  await once(tcp, 'close')
  await ask(server, '/health')
  t.same(JSON.parse((await polling.post('3')).text), unknown)
})

t.test('two simultaneous posts end the connection, and so does an aborted one', async t => {
  const server = await startServer(t)
  const begin = async (path: string) => {
    const tcp = await openTcp(t, server)
    tcp.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n3`)
    await ask(server, '/health')
    return tcp
  }
  const crowded = await openPolling(server)
  const tcp = await begin(crowded.path)
  const answered = once(tcp, 'data')
  t.equal((await crowded.post('3')).status, 400)
  const [chunk] = await answered
  t.equal(readAnswer(chunk.toString()).status, 400)
  t.same(JSON.parse((await crowded.get()).text), unknown)

  const broken = await openPolling(server)
  const poll = broken.get()
  const half = await begin(broken.path)
  half.destroy()
  t.equal((await poll).text, '6')
  t.same(JSON.parse((await broken.get()).text), unknown)
})

t.test("a body has its sender's size limit, declared or not", async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const post = async (path: string, head: string) => {
    const tcp = await openTcp(t, server)
    tcp.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${head}`)
    const [chunk] = await once(tcp, 'data')
    return readAnswer(chunk.toString()).status
  }
  const stranger = await openPolling(server)
  t.equal(await post(stranger.path, 'Content-Length: 20000\r\n\r\n'), 413, 'before any of it arrived')
  t.same(JSON.parse((await stranger.get()).text), unknown)
  const friend = await openAcceptedPolling(server, { token: ada.token })
  t.equal(await post(friend.path, `Content-Length: ${24 * megabyte + 1}\r\n\r\n`), 413)
})

t.test('messages of many megabytes are sent and received by polling', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const [sender, other] = [await openAcceptedPolling(server, { token: ada.token }), await openAcceptedPolling(server, { token: ada.token })]
  const message = 'x'.repeat(20 * megabyte)
  const told = other.packets()
  t.equal((await sender.post(`42${JSON.stringify(['message', { sid: session, message, localId: 'large' }])}`)).text, 'ok')
  const [update = ''] = await told
  t.ok(JSON.parse(update.slice(2))[1].body.message.content.c === message)
})

t.test('a polling client is pinged every 15 s, and closed after 45 s without an answer [S4]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const ada = await signUp(t, server)
  const answers = await openAcceptedPolling(server, { token: ada.token })
  const silent = await openAcceptedPolling(server, { token: ada.token })
  const away = await openAcceptedPolling(server, { token: ada.token })
  for (let round = 1; round <= 3; round += 1) {
    clock.advance(16_000)
    t.same(await answers.packets(), ['2'], `ping ${round}`)
    t.equal((await answers.post('3')).text, 'ok')
    if (round === 1) t.same(await silent.packets(), ['2'])
  }
  const waits = silent.get()
  await ask(server, '/health')
  clock.advance(16_000)
  t.same((await waits).text, '1', 'a poll that waits is told')
  t.same(JSON.parse((await silent.get()).text), unknown)
  t.same(JSON.parse((await away.get()).text), unknown)
  t.same(await answers.packets(), ['2'])
})

t.test('a client that closes is removed at once, and its poll ends', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const polling = await openAcceptedPolling(server, { token: ada.token })
  const poll = polling.get()
  await ask(server, '/health')
  t.equal((await polling.post('1')).text, 'ok')
  t.equal((await poll).text, '6')
  t.same(JSON.parse((await polling.get()).text), unknown)
})

t.test('a client that leaves the namespace can sign in again over the same polls', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const polling = await openAcceptedPolling(server, { token: ada.token })
  t.equal((await polling.post('41')).text, 'ok')
  await polling.post(`40${JSON.stringify({ token: ada.token })}`)
  t.match((await polling.packets())[0], /^40\{"sid"/)
})

t.test('a connection that never signs in is closed after 20 s', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const polling = await openPolling(server)
  clock.advance(20_000)
  t.same(JSON.parse((await polling.get()).text), unknown)
})

t.test('a rejected client gets an error and can retry on the same connection', async t => {
  const server = await startServer(t)
  const { token } = await signUp(t, server)
  const polling = await openPolling(server)
  await polling.post('40/admin,{}')
  t.same(await polling.packets(), ['44/admin,{"message":"Invalid namespace"}'])
  await polling.post('40{"token":"wrong"}')
  t.same(await polling.packets(), ['44{"message":"Invalid authentication token"}'])
  await polling.post(`40${JSON.stringify({ token })}`)
  t.match((await polling.packets())[0], /^40\{"sid"/)
  t.equal((await polling.post(`40${JSON.stringify({ token })}`)).status, 400, 'but only once')
})

t.test('the id of a connection is not a credential, and others do not see it', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const polling = await openPolling(server)
  await polling.post(`40${JSON.stringify({ token: polling.sid })}`)
  t.same(await polling.packets(), ['44{"message":"Invalid authentication token"}'])
  t.equal((await ada.call('GET', '/v1/sessions', { token: polling.sid })).status, 401)
  await polling.post(`40${JSON.stringify({ token: ada.token })}`)
  const [answer = ''] = await polling.packets()
  t.not(JSON.parse(answer.slice(2)).sid, polling.sid)
  t.notMatch(answer, polling.sid)
})

t.test('when the server closes, every poll ends', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const [stranger, friend] = [await openPolling(server), await openAcceptedPolling(server, { token: ada.token })]
  const polls = [stranger.get(), friend.get()]
  await ask(server, '/health')
  await server.close()
  t.same(
    (await Promise.all(polls)).map(({ text }) => text),
    ['1', '1']
  )
})

t.test('all replies to one request come in one answer', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const polling = await openAcceptedPolling(server, { token: ada.token })
  const told = polling.packets()
  await ada.send(session, { localId: 'a' }, { localId: 'b' }, { localId: 'c' })
  t.same(seqsIn(await told), [1, 2, 3])
})

t.test('a tab that polls only occasionally misses nothing', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const tab = await openAcceptedPolling(server, { token: ada.token })
  const heard: string[] = []
  for (let minute = 0; minute < 5; minute += 1) {
    for (let number = 1; number <= 20; number += 1) await ada.send(session, { localId: `${minute} ${number}` })
    clock.advance(55_000)
    heard.push(...(await tab.packets()))
    await tab.post('3')
  }
  t.same(seqsIn(heard), range(1, 100))
  t.equal(heard.filter(packet => packet === '2').length, 5)
})

t.test('a client that does not poll is closed instead of losing a message, and no one else waits [B1, B3, B4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const [stalled, reads] = [
    await openAcceptedPolling(server, { token: ada.token }),
    await openAcceptedPolling(server, { token: ada.token })
  ]
  const content = 'x'.repeat(megabyte / 2 - 4096)
  const heard: string[] = []
  const before = process.memoryUsage().rss
  for (let number = 1; number <= 60; number += 1) {
    const told = reads.packets()
    await ada.send(session, { localId: `${number}`, content })
    heard.push(...(await told))
    // Two of these may wait, one more message, and as much again after it.
    if (number === 6) t.equal((await stalled.post('3')).status, 200, 'not too far behind yet')
    if (number === 7) t.equal((await stalled.post('3')).status, 400, 'too far behind')
  }
  t.comment(`memory grew by ${Math.round((process.memoryUsage().rss - before) / megabyte)} MB, the clients of this test included`)
  t.same(seqsIn(heard), range(1, 60), 'who reads has everything')
  t.same(JSON.parse((await stalled.get()).text), unknown, 'who does not is told to come back, and got nothing with a gap')
})

t.test('one message larger than the backlog limit does not count as slow reading [B1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const polling = await openAcceptedPolling(server, { token: ada.token })
  await ada.send(session, { localId: 'large', content: 'x'.repeat(30 * megabyte) })
  t.same(seqsIn(await polling.packets()), [1])
  await polling.post('421["ping"]')
  t.same(await polling.packets(), ['431[{}]'])
})

t.test('large messages arrive in order and over as many polls as they need, one poll at a time [B1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const polling = await openAcceptedPolling(server, { token: ada.token })
  const drafts = [3, 0.001, 1, 2, 0.001].map((size, index) => ({ localId: `${index}`, content: 'é'.repeat((size * megabyte) / 2) }))
  await ada.send(session, ...drafts)
  const heard: string[] = []
  let polls = 0
  for (; heard.length < drafts.length; polls += 1) heard.push(...(await polling.packets()))
  t.same(seqsIn(heard), range(1, drafts.length))
  t.ok(polls > 1, `${polls} polls`)
  await polling.post('421["ping"]')
  t.same(await polling.packets(), ['431[{}]'])
})

t.test('an unread large answer ends with its connection, and a client that ignores it is closed [B1, B6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  for (const how of ['second poll', 'abort'] as const) {
    const polling = await openAcceptedPolling(server, { token: ada.token })
    await ada.send(session, { localId: how, content: 'x'.repeat(20 * megabyte) })
    const tcp = await openTcp(t, server)
    tcp.pause().write(`GET ${polling.path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    await ask(server, '/health')
    if (how === 'abort') tcp.resetAndDestroy()
    else t.equal((await polling.get()).status, 400, 'two polls at once')
    while ((await polling.post('3')).status === 200) await ask(server, '/health')
    t.same(JSON.parse((await polling.get()).text), unknown, how)
  }
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** Serves requests without a network, so that the order of its answers is certain: each message is answered in its turn. */
function pollingWith(onAnswer: (text: string) => void): (method: string, query: string, body?: string) => void {
  const clock = manualClock()
  const onError = (error: unknown) => t.error(error)
  const admission = { strangers: new Strangers({ limits: 'off' }), preSignInSlots: Object.create(null) }
  const clients = new PollingClients({
    corsOrigin: '*',
    limits: 'off',
    clock,
    bodies: new Budget(megabyte),
    answerSender: new AnswerSender({ clock, unread: new Budget(megabyte), onError }),
    backlog: new Backlog({ begin: () => () => {} }),
    turn: new WriteTurn(onError),
    heartbeat: new Heartbeat(clock, onError),
    connectionAdmission: Object.assign(Object.create(null), { begin: () => new AdmittedConnection('127.0.0.1', '', admission) }),
    newId: () => 'ada',
    isServing: () => true,
    accept: connection => ({ mostBytes: 1000, message: said => connection.send(`4you said ${said}`), closed() {} })
  })
  return (method, query, body = '') => {
    const response = Object.assign(Object.create(null), {
      onAborted() {},
      writeHeader: () => response,
      cork: (write: () => void) => write(),
      tryEnd(text: string | Uint8Array) {
        onAnswer(String(text))
        return [true, true]
      },
      onData: (take: (chunk: ArrayBuffer, isLast: boolean) => void) => take(new TextEncoder().encode(body).buffer, true)
    })
    const headers: Record<string, string> = { 'content-length': String(body.length) }
    const request = { getQuery: () => query, getCaseSensitiveMethod: () => method, getHeader: (name: string) => headers[name] ?? '' }
    clients.serve(response, Object.assign(Object.create(null), request))
  }
}
