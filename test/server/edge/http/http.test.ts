import { once } from 'node:events'
import t, { type Test } from 'tap'
import { routes } from '../../../../lib/protocol/wire/routes.ts'
import { call, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { exchange, openTcp, readAnswer } from '../../raw-http.ts'

const json = 'application/json'

t.test('a running server says so, with its version', async t => {
  const server = await startServer(t)
  const { status, body } = await call(server, 'GET', '/health')
  t.equal(status, 200)
  t.match(body, { status: 'ok', service: 'afield', version: /^\d+\.\d+\.\d+/, timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ })
})

t.test('an unknown route is answered with its path and method, without its query', async t => {
  const server = await startServer(t)
  for (const [method, path] of [
    ['GET', '/v1/nowhere'],
    ['POST', '/v9/sessions'],
    ['PUT', '/v1/sessions'],
    ['DELETE', '/v1/account/profile'],
    ['POST', '/health'],
    ['GET', '/v1/sessions/a/b/c']
  ] as const) {
    const answer = await call(server, method, `${path}?code=secret`)
    t.same(answer, { status: 404, body: { error: 'Not found', path, method } }, `${method} ${path}`)
  }
})

t.test('an unknown method is answered like an unknown route, and repeats nothing', async t => {
  const server = await startServer(t)
  for (const method of ['TRACE', 'TRACK', 'PROPFIND']) {
    const raw = await exchange(t, server, `${method} / HTTP/1.1\r\nHost: localhost\r\nX-Mark: repeated\r\nConnection: close\r\n\r\n`)
    t.equal(readAnswer(raw).status, 404, method)
    t.notMatch(raw, /repeated/, method)
  }
})

t.test('every authenticated route rejects a missing header, a malformed one and an unknown token', async t => {
  const server = await startServer(t)
  const missing = { status: 401, body: { error: 'Missing authorization header' } }
  const invalid = { status: 401, body: { error: 'Invalid token' } }
  for (const { method, path, auth } of Object.values(routes)) {
    if (auth === 'none') continue
    const at = path.replace(/:\w+/, 'x')
    t.same(await call(server, method, at), missing, `${method} ${at} without a header`)
    for (const authorization of ['', 'Basic eDp5', 'Bearer', 'Bearer ', 'Bearer a b', 'token']) {
      t.same(await call(server, method, at, { headers: { authorization } }), missing, `${method} ${at} with ${authorization}`)
    }
    t.same(await call(server, method, at, { token: 'afield1-account.e30=.x' }), invalid, `${method} ${at} with a wrong token`)
    t.same(await call(server, method, at, { token: 'x'.repeat(3500) }), invalid, `${method} ${at} with a huge token`)
  }
})

t.test('an unauthorized request is rejected whatever its body', async t => {
  const server = await startServer(t)
  const { status } = await call(server, 'POST', '/v1/sessions', { body: '{"broken', headers: { authorization: 'Bearer nobody' } })
  t.equal(status, 401)
})

t.test('Bearer may be written in any case', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const word of ['bearer', 'BEARER', 'Bearer']) {
    t.equal((await call(server, 'GET', '/v1/sessions', { headers: { authorization: `${word} ${ada.token}` } })).status, 200)
  }
})

t.test('an invalid body is answered with where and why, never with its content', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const table: [body: unknown, reason: RegExp][] = [
    ['{"tag":', /^body is not JSON$/],
    ['nonsense', /^body is not JSON$/],
    ['"text"', /^body /],
    ['null', /^body /],
    ['[]', /^body /],
    [{ metadata: 'secret-canary' }, /^body\/tag /],
    [{ tag: '', metadata: 'secret-canary' }, /^body\/tag /],
    [{ tag: 'secret-canary', metadata: 7 }, /^body\/metadata /],
    [{ tag: 'secret-canary', metadata: 'x', agentState: ['secret-canary'] }, /^body\/agentState /],
    [{ tag: 'secret-canary', metadata: '\ud800' }, /^body\/metadata /]
  ]
  for (const [body, reason] of table) {
    const answer = await ada.call('POST', '/v1/sessions', { body })
    t.match(answer, { status: 400, body: { error: 'Error', message: reason, statusCode: 400 } }, JSON.stringify(body))
    t.notMatch(JSON.stringify(answer.body), /canary/)
  }
  t.same((await ada.call('GET', '/v1/sessions')).body, { sessions: [] }, 'nothing came of any of them')
})

t.test('fields shown in lists are smaller than a message [N2]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const mib = 1024 * 1024
  const open = (more: object) => ada.call('POST', '/v1/sessions', { body: { tag: 'one', metadata: 'm', ...more } })
  t.match(await open({ metadata: 'x'.repeat(mib + 1) }), { status: 400, body: { message: /^body\/metadata / } })
  t.match(await open({ agentState: 'x'.repeat(4 * mib + 1) }), { status: 400, body: { message: /^body\/agentState / } })
  t.match(await open({ dataEncryptionKey: 'x'.repeat(70_000) }), { status: 400, body: { message: /^body\/dataEncryptionKey / } })
  t.equal((await open({ metadata: 'x'.repeat(mib), agentState: 'x'.repeat(4 * mib) })).status, 200)
})

t.test('a body that is not UTF-8 is rejected', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const broken = Buffer.concat([Buffer.from('{"tag":"'), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from('","metadata":""}')])
  const response = await fetch(`${server.url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': json, authorization: `Bearer ${ada.token}` },
    body: broken
  })
  t.equal(response.status, 400)
  t.same(await response.json(), { error: 'Error', message: 'body is not UTF-8', statusCode: 400 })
})

t.test('keys with a meaning in JavaScript have none here', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const body = '{"__proto__":{"tag":"from-proto"},"constructor":{"prototype":{"polluted":1}},"tag":"plain","metadata":"m","unknown":1}'
  const { status, body: answer } = await ada.call('POST', '/v1/sessions', { body })
  t.equal(status, 200)
  t.notOk('unknown' in answer.session)
  t.equal(Reflect.get({}, 'polluted'), undefined)
})

t.test('an absent body counts as an empty object, with and without a content type', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const headers = { 'content-type': json }
  t.same(await ada.call('POST', `/v1/sessions/${session}/archive`), { status: 200, body: { success: true } })
  t.same(await ada.call('POST', `/v1/sessions/${session}/archive`, { headers }), { status: 200, body: { success: true } })
  t.same(await ada.call('POST', `/v1/sessions/${session}/archive`, { body: {} }), { status: 200, body: { success: true } })
  t.equal((await ada.call('GET', '/v1/sessions', { headers })).status, 200)
  t.same(await ada.call('DELETE', '/v1/push-tokens/gone', { headers }), { status: 200, body: { success: true } })
  t.same(await ada.call('DELETE', `/v1/sessions/${session}`, { body: '{not even json' }), { status: 200, body: { success: true } })
})

t.test('JSON is accepted with a charset, as plain text and without a type; anything else is 415', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const body = { tag: 'one', metadata: 'm' }
  for (const type of [json, 'application/json; charset=utf-8', 'APPLICATION/JSON', 'text/plain;charset=UTF-8']) {
    t.equal((await ada.call('POST', '/v1/sessions', { body, headers: { 'content-type': type } })).status, 200, type)
  }
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/octet-stream', 'jsonish']) {
    const answer = await ada.call('POST', '/v1/sessions', { body, headers: { 'content-type': type } })
    t.same(answer, { status: 415, body: { error: 'Unsupported Media Type', message: 'Unsupported Media Type', statusCode: 415 } }, type)
  }
})

t.test('an invalid query is rejected', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const refused = [
    'after_seq=-1',
    'after_seq=x',
    'after_seq=',
    'before_seq=0',
    'before_seq=9007199254740992',
    'limit=0',
    'limit=501',
    'limit=1e2',
    'after_seq=1&before_seq=2'
  ]
  for (const query of refused) {
    const { status, body } = await ada.call('GET', `/v3/sessions/${session}/messages?${query}`)
    t.match({ status, body }, { status: 400, body: { error: 'Error', message: /^query/, statusCode: 400 } }, query)
  }
  t.equal((await ada.call('GET', `/v3/sessions/${session}/messages?limit=500&unknown=1`)).status, 200)
})

t.test('a path parameter is percent-decoded, and rejected if invalid', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const id = 'mä:ch%/ine'
  await ada.call('POST', '/v1/machines', { body: { id, metadata: 'm' } })
  const { status, body } = await ada.call('GET', `/v1/machines/${encodeURIComponent(id)}`)
  t.equal(status, 200)
  t.equal(body.machine.id, id)
  for (const broken of ['%', '%zz', '%ff', '%ed%a0%80']) {
    const body = { error: 'Error', message: 'path is not percent-encoded text' }
    t.match(await ada.call('GET', `/v1/machines/${broken}`), { status: 400, body }, broken)
  }
  t.same((await ada.call('GET', '/v1/machines/nul%00nul')).status, 404)
})

const limited = Object.values(routes).filter(route => route.method === 'POST' && route.limit > 0)

t.test('a body declared too large is rejected before its first byte, on every route', async t => {
  const server = await startServer(t)
  for (const { path, limit } of limited) {
    const length = `Content-Length: ${limit + 1}`
    const raw = await exchange(t, server, `POST ${path.replace(/:\w+/, 'x')} HTTP/1.1\r\nHost: localhost\r\n${length}\r\n\r\n`)
    const { status, body } = readAnswer(raw)
    t.same({ status, body }, { status: 413, body: tooLarge }, path)
  }
})

t.test('an unauthenticated body is not waited for, on every route [N2]', async t => {
  const server = await startServer(t)
  for (const { path, auth, limit } of limited) {
    if (auth === 'none') continue
    const socket = await openTcp(t, server)
    const length = `Content-Length: ${limit}`
    const to = `POST ${path.replace(/:\w+/, 'x')} HTTP/1.1\r\nHost: localhost`
    socket.write(`${to}\r\nAuthorization: Bearer nobody\r\n${length}\r\n\r\n{"the rest never comes`)
    const { status, body } = readAnswer(await firstBytes(t, socket))
    t.same({ status, body }, { status: 401, body: { error: 'Invalid token' } }, path)
  }
})

t.test('a body of exactly the limit is accepted', async t => {
  const server = await startServer(t)
  const spare = 2048 - JSON.stringify({ publicKey: '' }).length
  t.equal(
    (await call(server, 'POST', '/v1/auth/request', { body: { publicKey: 'x'.repeat(spare) } })).status,
    400,
    'read, and refused for its key'
  )
  t.equal((await call(server, 'POST', '/v1/auth/request', { body: { publicKey: 'x'.repeat(spare + 1) } })).status, 413)
})

t.test('a request that is not HTTP ends only its own connection', async t => {
  const server = await startServer(t)
  const broken = [
    'GET / HTTP/1.1\r\n\r\n',
    'POST /v1/auth HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc',
    'POST /v1/auth HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
    `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
    '\0'.repeat(1000)
  ]
  for (const bytes of broken)
    t.match(await exchange(t, server, bytes), /^(HTTP\/1\.1 (4\d\d|5\d\d) |$)/, JSON.stringify(bytes.slice(0, 90)))
  t.equal((await call(server, 'GET', '/health')).status, 200)
})

t.test('a client that leaves before its answer affects nothing else', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const body = JSON.stringify({ messages: [{ content: 'x', localId: 'left' }] })
  const socket = await openTcp(t, server)
  socket.write(
    `POST /v3/sessions/${session}/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`
  )
  socket.resetAndDestroy()
  t.equal((await ada.send(session, { localId: 'stays' })).status, 200)
})

t.test('clients that leave within a body hold none of the memory for bodies [B6]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const part = Buffer.alloc(15 * 1024 * 1024, ' ')
  const head =
    `POST /v3/sessions/${session}/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\n` +
    `Content-Length: ${part.length + 1}\r\n\r\n`
  // Together more than one account may hold.
  for (let client = 0; client < 10; client++) {
    const socket = await openTcp(t, server)
    socket.write(head)
    socket.end(part)
    socket.resume()
    await once(socket, 'close')
  }
  t.equal((await ada.send(session, { localId: 'stays', content: 'x'.repeat(1024 * 1024) })).status, 200)
})

t.test('a web page may call from any origin, and its preflight is answered with the headers it asks for', async t => {
  const server = await startServer(t)
  const headers = {
    origin: 'https://app.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,x-happy-client'
  }
  for (const path of ['/v1/sessions', '/v3/sessions/x/messages', '/v1/nowhere']) {
    const response = await fetch(server.url + path, { method: 'OPTIONS', headers })
    t.equal(response.status, 204)
    t.equal(await response.text(), '')
    t.equal(response.headers.get('access-control-allow-origin'), '*')
    t.equal(response.headers.get('access-control-allow-methods'), 'GET, POST, PUT, DELETE')
    t.equal(response.headers.get('access-control-allow-headers'), headers['access-control-request-headers'])
    t.equal(response.headers.get('access-control-allow-credentials'), null)
  }
})

t.test('every answer names the allowed origin, errors too', async t => {
  const server = await startServer(t, { corsOrigin: 'https://app.example' })
  const headers = { origin: 'https://evil.example' }
  for (const path of ['/v1/sessions', '/v1/nowhere', '/v1/auth/request/status']) {
    const response = await fetch(server.url + path, { headers })
    await response.text()
    t.equal(response.headers.get('access-control-allow-origin'), 'https://app.example', path)
  }
})

t.test('answers are JSON and not cached', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const path of ['/v1/sessions', '/v1/nowhere', '/health']) {
    const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${ada.token}` } })
    await response.text()
    t.equal(response.headers.get('content-type'), 'application/json; charset=utf-8', path)
  }
  const kept = await fetch(`${server.url}/v1/sessions`, { headers: { authorization: `Bearer ${ada.token}` } })
  await kept.text()
  t.equal(kept.headers.get('cache-control'), 'no-store')
})

t.test('a browser takes no answer for a page, and shows none in a frame [H7]', async t => {
  const server = await startServer(t, { metricsToken: 'x'.repeat(32) })
  const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}Connection: close\r\n\r\n`
  const requests: [request: string, status: number][] = [
    [get('/v1/sessions'), 401],
    [get('/v1/nowhere'), 404],
    [get('/health'), 200],
    [get('/metrics'), 401],
    [get('/', 'Accept: text/plain\r\n'), 200],
    [get('/health').replace('localhost', 'elsewhere.example'), 421],
    [get('/v1/updates/?EIO=4&transport=polling'), 200],
    [get('/v1/updates/?EIO=3&transport=polling'), 400]
  ]
  for (const [request, status] of requests) {
    const raw = await exchange(t, server, request)
    t.match(raw, new RegExp(`^HTTP/1.1 ${status} `), request)
    t.match(raw, /\r\nx-content-type-options: nosniff\r\n/i, request)
    t.match(raw, /\r\ncontent-security-policy: sandbox; default-src 'none'; frame-ancestors 'none'\r\n/i, request)
  }
})

const tooLarge = { error: 'Payload Too Large', message: 'Payload Too Large', statusCode: 413 }

async function firstBytes(t: Test, socket: Awaited<ReturnType<typeof openTcp>>): Promise<string> {
  for await (const chunk of socket) return String(chunk)
  t.fail('hung up without a word')
  return ''
}

for (const path of ['/v1/nothing', '/nothing', '/health', '/ready']) {
  t.test(`HEAD ${path} has no body, so that the next bytes on the connection are the next answer [N10]`, async t => {
    const server = await startServer(t)
    const ask = (method: string) => `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
    const socket = await openTcp(t, server)
    const firstOf = async (method: string) => {
      socket.write(ask(method))
      return String((await once(socket, 'data'))[0])
    }
    const [head, get] = [await firstOf('HEAD'), await firstOf('GET')]
    t.match(get, /\r\n\r\n./s, 'GET has one')
    t.ok(head.endsWith('\r\n\r\n'), head.slice(-40))
    const lengthOf = (answer: string) => /content-length: (\d+)/i.exec(answer)?.[1]
    if (!path.includes('nothing')) t.equal(lengthOf(head), lengthOf(get))
  })
}
