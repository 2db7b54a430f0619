import { request } from 'node:http'
import t from 'tap'
import { routes } from '../../../../lib/protocol/wire/routes.ts'
import { call, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { exchange, readAnswer } from '../../raw-http.ts'

const body = '{"tag":"a","metadata":"eA=="}'
const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`

/** The head of a request, and what follows it. */
const ambiguous: Record<string, [head: string, rest: string]> = {
  'two lengths that differ, the right one first': [`Content-Length: ${body.length}\r\nContent-Length: 3\r\n`, body],
  'two lengths that differ, the right one last': [`Content-Length: 3\r\nContent-Length: ${body.length}\r\n`, body],
  'the same length twice': [`Content-Length: ${body.length}\r\nContent-Length: ${body.length}\r\n`, body],
  'a list of lengths': [`Content-Length: ${body.length}, ${body.length}\r\n`, body],
  'an empty length': ['Content-Length: \r\n', body],
  'a length with a sign': [`Content-Length: +${body.length}\r\n`, body],
  'a length below zero': ['Content-Length: -1\r\n', body],
  'a length in another base': ['Content-Length: 0x1d\r\n', body],
  'a length beyond all numbers': [`Content-Length: ${'9'.repeat(30)}\r\n`, body],
  'a length with a space in its name': [`Content-Length : ${body.length}\r\n`, body],
  'a length and chunks': [`Content-Length: ${body.length}\r\nTransfer-Encoding: chunked\r\n`, chunked],
  'chunks and a length': [`Transfer-Encoding: chunked\r\nContent-Length: ${body.length}\r\n`, chunked],
  'chunks by another name': ['Transfer-Encoding: xchunked\r\n', chunked],
  'no encoding by name': ['Transfer-Encoding: identity\r\n', chunked],
  'two encodings': ['Transfer-Encoding: gzip, chunked\r\n', chunked],
  'an encoding in two headers': ['Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n', chunked],
  'a line that ends without a return': [`X-Any: a\nContent-Length: ${body.length}\r\n`, body],
  'a header that goes on in the next line': [`X-Any: a\r\n b\r\nContent-Length: ${body.length}\r\n`, body],
  'a header with NUL': [`X-Any: a\0b\r\nContent-Length: ${body.length}\r\n`, body],
  'two hosts': [`Host: localhost\r\nContent-Length: ${body.length}\r\n`, body]
}

t.test('a request that two parsers could read in two ways is rejected, and its connection closed [N10]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const head = `POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\nContent-Type: application/json\r\n`
  for (const [name, [lines, rest]] of Object.entries(ambiguous)) {
    // What a program on the way might take for the next request.
    const smuggled = `GET /v1/account/profile HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\n\r\n`
    const raw = await exchange(t, server, `${head}${lines}\r\n${rest}${smuggled}`)
    t.match(raw, /^(HTTP\/1\.1 400 |$)/, name)
    t.ok(raw.split('HTTP/1.1 ').length <= 2, `${name}: no second answer`)
    const alone = await exchange(t, server, `${head}${lines}\r\n${rest}`)
    t.match(alone, /^HTTP\/1\.1 400 /, `${name}, with nothing after it`)
  }
  t.strictSame((await ada.call('GET', '/v1/sessions')).body.sessions, [], 'none of them did anything')
})

t.test('ambiguity is rejected on every entry, not only on routes with a body [N10]', async t => {
  const server = await startServer(t)
  for (const path of ['/health', '/', '/v1/updates/?EIO=4&transport=polling', '/nothing', '/v1/sessions']) {
    const raw = await exchange(t, server, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 0\r\n\r\nx`)
    t.equal(readAnswer(raw).status, 400, path)
  }
})

t.test('a request that a proxy took from under a path is rejected with the reason', async t => {
  const server = await startServer(t)
  for (const path of ['/', '/health', '/v1/sessions', '/v1/updates/?EIO=4&transport=polling']) {
    const { status, body } = await call(server, 'GET', path, { headers: { 'x-forwarded-prefix': '/afield' } })
    t.equal(status, 421, path)
    t.match(body.error, 'Afield needs a host name or a port of its own')
  }
  for (const prefix of ['', '/']) t.equal((await call(server, 'GET', '/health', { headers: { 'x-forwarded-prefix': prefix } })).status, 200)
})

t.test('a body in chunks is rejected on every entry, and its connection closed: others read chunks in other ways [N10]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const bodies = {
    sound: chunked,
    'with an extension': chunked.replace('\r\n', ';a=b\r\n'),
    'without an end of a chunk': chunked.replace('}\r\n', '}'),
    'with anything at the end of a chunk': chunked.replace('}\r\n', '}XX'),
    'with bare line feeds': chunked.replaceAll('\r\n', '\n'),
    'with a blank before a length': ` ${chunked}`,
    'of a length that is cut to 32 bits': `1${chunked.padStart(chunked.length + 6, '0')}`
  }
  const lines = [
    'POST /v1/sessions',
    'POST /v1/auth',
    'PUT /files/x',
    'GET /v1/sessions',
    'GET /',
    'POST /v1/updates/?EIO=4&transport=polling'
  ]
  for (const line of lines) {
    const head = `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\nTransfer-Encoding: Chunked\r\n\r\n`
    for (const [name, sent] of Object.entries(bodies)) {
      const raw = await exchange(t, server, `${head}${sent}GET /v1/account/profile HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      t.match(raw, /^(HTTP\/1\.1 4(00|11) |$)/, `${line} ${name}`)
      t.ok(raw.split('HTTP/1.1 ').length <= 2, `${line} ${name}: no second answer`)
    }
    t.equal(readAnswer(await exchange(t, server, head)).status, 411, line)
  }
  t.strictSame((await ada.call('GET', '/v1/sessions')).body.sessions, [], 'none of them did anything')
})

t.test('headers of 64 kB, and too many headers, end the connection [N10]', async t => {
  const server = await startServer(t)
  const head = 'GET /health HTTP/1.1\r\nHost: localhost\r\n'
  t.match(await exchange(t, server, `${head}X-Any: ${'a'.repeat(65_536)}\r\n\r\n`), /^HTTP\/1\.1 431 /)
  t.match(await exchange(t, server, `${head}${'X-Any: a\r\n'.repeat(500)}\r\n`), /^HTTP\/1\.1 431 /)
  t.equal((await call(server, 'GET', '/health')).status, 200)
})

t.test('a token in a URL is rejected anywhere in it, and never authenticates [H1]', async t => {
  const lines: string[] = []
  const logger = Object.assign(Object.create(null), { isLevelEnabled: () => true, level: 'debug' })
  for (const level of ['debug', 'info', 'warn', 'error']) logger[level] = (...told: unknown[]) => lines.push(JSON.stringify(told))
  const server = await startServer(t, { logger })
  const ada = await signUp(t, server)
  const paths = ['/v1/account/profile', '/health', '/', '/nothing', '/v1/updates/?EIO=4&transport=polling']
  for (const path of paths) {
    for (const name of ['token', 'Token', 'access_token', '%74oken', 'tok%65N', 'access%5Ftoken', '%zz&token']) {
      const sign = path.includes('?') ? '&' : '?'
      const { status, body } = await call(server, 'GET', `${path}${sign}${name}=${ada.token}`, { token: ada.token })
      t.equal(status, 400, `${path} ${name}`)
      t.notMatch(JSON.stringify(body), ada.token)
    }
  }
  t.notMatch(lines.join('\n'), ada.token)
  t.equal((await ada.call('GET', '/v1/sessions?nottoken=1')).status, 200, 'other names are free')
  t.equal((await ada.call('GET', '/v1/sessions?a=%26token%3D1&%zz=1')).status, 200, 'and so are values, and names that are no text')
})

function askAs(server: { port: number }, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ port: server.port, host: '127.0.0.1', path: '/health', headers: { host }, agent: false })
      .on('response', response => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
}

t.test('a local server answers only to the names of its machine and its public one [H4]', async t => {
  const server = await startServer(t, { publicUrl: 'https://home.example:8443' })
  for (const host of [
    'localhost',
    'LOCALHOST:80',
    `127.0.0.1:${server.port}`,
    '127.1.2.3',
    '[::1]:3005',
    'home.example',
    'home.example:1'
  ]) {
    t.equal(await askAs(server, host), 200, host)
  }
  const strange = [
    'evil.example',
    'localhost.evil.example',
    'evillocalhost',
    'home.example.evil.example',
    '192.168.1.4',
    '127.0.0.1.evil.example',
    '[::2]'
  ]
  for (const host of strange) t.equal(await askAs(server, host), 421, host)
  t.match(await exchange(t, server, 'GET /health HTTP/1.1\r\nHost: \r\n\r\n'), /^HTTP\/1\.1 4/, 'no name at all')
})

t.test('an unknown host name gets no socket either [H4]', async t => {
  const server = await startServer(t)
  const head = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n'
  const path = '/v1/updates/?EIO=4&transport=websocket'
  t.match(await exchange(t, server, `GET ${path} HTTP/1.1\r\nHost: evil.example\r\n${head}\r\n`), /^HTTP\/1\.1 421 /)
})

t.test('a server for others answers to any name: a request has a token or gets nothing [H4]', async t => {
  const server = await startServer(t, { host: '0.0.0.0', insecureHttp: true })
  t.equal(await askAs(server, 'any.example'), 200)
})

const origins = [
  'https://app.example',
  'http://app.example',
  'https://app.example:8443',
  'https://app.example.evil.example',
  'https://evilapp.example',
  'https://evil.example/https://app.example',
  'https://sub.app.example',
  'https://APP.example.',
  'https://app.example@evil.example',
  'file://',
  'null',
  'chrome-extension://abc'
]

t.test('with --cors-origin only that origin is allowed, whatever origin asks, and none may send credentials [H2]', async t => {
  const server = await startServer(t, { corsOrigin: 'https://app.example' })
  for (const origin of origins) {
    for (const [method, path] of [
      ['GET', '/v1/sessions'],
      ['OPTIONS', '/v1/sessions'],
      ['GET', '/v1/updates/?EIO=4&transport=polling'],
      ['GET', '/nothing']
    ]) {
      const { headers } = await fetch(server.url + path, {
        method: method ?? '',
        headers: { origin, 'access-control-request-headers': 'authorization' }
      })
      t.equal(headers.get('access-control-allow-origin'), 'https://app.example', `${method} ${path} ${origin}`)
      t.equal(headers.get('access-control-allow-credentials'), null)
    }
  }
})

t.test('without it every origin is allowed, and still none may send credentials [H2]', async t => {
  const server = await startServer(t)
  for (const origin of origins) {
    const { headers } = await fetch(`${server.url}/v1/sessions`, { headers: { origin } })
    t.equal(headers.get('access-control-allow-origin'), '*', origin)
    t.equal(headers.get('access-control-allow-credentials'), null)
  }
})

t.test('a form has no effect on any route [H3]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  await ada.openSession('before')
  const before = await ada.call('GET', '/v1/sessions')
  const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain']
  for (const { method, path, auth } of Object.values(routes)) {
    if (method === 'GET' || auth === 'none') continue
    for (const type of formTypes) {
      // A form can neither set the authorization header nor use another method than POST.
      const { status } = await call(server, 'POST', path.replaceAll(/:\w+/g, 'x'), { body: '{"a":1}', headers: { 'content-type': type } })
      t.ok(status === 401 || status === 404, `${method} ${path} ${type} ${status}`)
    }
  }
  t.same(await ada.call('GET', '/v1/sessions'), before)
})

t.test('routes without sign-in accept no form, which could sign a person in or answer for them [H3]', async t => {
  const server = await startServer(t)
  for (const { method, path, auth } of Object.values(routes)) {
    if (method === 'GET' || auth !== 'none') continue
    for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const { status } = await call(server, method, path, { body: '{}', headers: { 'content-type': type } })
      t.equal(status, 415, `${method} ${path} ${type}`)
    }
  }
})
