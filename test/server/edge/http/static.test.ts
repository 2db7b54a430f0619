import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { startServer } from '../../../kit/server.ts'
import { exchange, openTcp, readAnswer } from '../../raw-http.ts'
import { serveSmallApp } from '../../small-app.ts'

const page = `<!doctype html><head><title>Afield</title>${'<p>again'.repeat(200)}`
const app: Record<string, string> = {
  'web/index.html': page,
  'web/assets/main-ABCD2345.js': 'console.log(1)',
  'web/assets/style-ABCD2345.css': 'p {}',
  'web/manifest.webmanifest': '{}',
  'web/worker.js': 'self',
  'web/logo.svg': '<svg/>',
  'web/icon-192.png': '\u0089PNG',
  'web/odd.xyz': 'x'
}

const mib = 1024 * 1024
const large = randomBytes(24 * mib)
const files = serveSmallApp({ ...app, 'web/assets/large-ABCD2345.bin': large })

const html = { accept: 'text/html,application/xhtml+xml' }

t.test('the page has a policy that allows nothing from elsewhere [H6]', async t => {
  const server = await startServer(t)
  const response = await fetch(`${server.url}/`, { headers: html })
  t.equal(await response.text(), page)
  t.equal(response.status, 200)
  const headers = Object.fromEntries(response.headers)
  t.match(headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(self), microphone=(), geolocation=()'
  })
  const policy = new Map((headers['content-security-policy'] ?? '').split('; ').map(rule => rule.split(/ (.*)/s, 2) as [string, string]))
  t.same(Object.fromEntries(policy), {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' blob: data:",
    'connect-src': "'self'",
    'worker-src': "'self'",
    'manifest-src': "'self'",
    'object-src': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
    'require-trusted-types-for': "'script'"
  })
  t.equal(headers['strict-transport-security'], undefined, 'not over plain HTTP')
})

t.test('behind HTTPS the browser is told to use only HTTPS', async t => {
  const server = await startServer(t, { publicUrl: 'https://home.example' })
  const response = await fetch(`${server.url}/`, { headers: html })
  await response.text()
  t.equal(response.headers.get('strict-transport-security'), 'max-age=31536000')
})

t.test('each file has its type and is shown in no frame, and only a name with a hash is cached for good', async t => {
  const server = await startServer(t)
  const forGood = 'public, max-age=31536000, immutable'
  const table: [path: string, type: string, cache: string][] = [
    ['/assets/main-ABCD2345.js', 'text/javascript; charset=utf-8', forGood],
    ['/assets/style-ABCD2345.css', 'text/css; charset=utf-8', forGood],
    ['/manifest.webmanifest', 'application/manifest+json; charset=utf-8', 'no-cache'],
    ['/worker.js', 'text/javascript; charset=utf-8', 'no-cache'],
    ['/logo.svg', 'image/svg+xml', 'no-cache'],
    ['/icon-192.png', 'image/png', 'no-cache'],
    ['/odd.xyz', 'application/octet-stream', 'no-cache']
  ]
  for (const [path, type, cache] of table) {
    const response = await fetch(server.url + path)
    t.equal(await response.text(), app[`web${path}`], path)
    t.equal(response.headers.get('content-type'), type, path)
    t.equal(response.headers.get('cache-control'), cache, path)
    t.equal(response.headers.get('x-content-type-options'), 'nosniff', path)
    t.equal(response.headers.get('content-security-policy'), "frame-ancestors 'none'", path)
  }
})

t.test('an app route opened cold shows the page; for a program it is 404', async t => {
  const server = await startServer(t)
  for (const path of ['/session/abc', '/settings', '/index.html']) {
    const response = await fetch(server.url + path, { headers: html })
    t.equal(response.status, 200, path)
    t.equal(await response.text(), page)
    t.ok(response.headers.get('content-security-policy'))
  }
  for (const [path, headers] of [
    ['/session/abc', {}],
    ['/assets/gone.js', { accept: '*/*' }],
    ['/v1/nowhere', html],
    ['/v9/nowhere', html]
  ] as const) {
    const response = await fetch(server.url + path, { headers })
    t.equal(response.status, 404, path)
    t.same(await response.json(), { error: 'Not found', path, method: 'GET' })
  }
  t.equal((await fetch(`${server.url}/`, { method: 'POST', headers: html })).status, 404)
})

t.test('a cached file is not sent again, and brotli is used where accepted', async t => {
  const server = await startServer(t)
  const tags = new Set<string>()
  for (const encoding of ['identity', 'br']) {
    const ask = (more: Record<string, string> = {}) =>
      fetch(`${server.url}/`, { headers: { ...html, 'accept-encoding': encoding, ...more } })
    const first = await ask()
    await first.text()
    const tag = first.headers.get('etag') ?? ''
    t.match(tag, encoding === 'br' ? /^"[\w-]{22}-br"$/ : /^"[\w-]{22}"$/)
    t.equal(first.headers.get('vary'), 'accept, accept-encoding')
    tags.add(tag)
    for (const known of [tag, `"other", ${tag}`, `W/${tag}`]) {
      const again = await ask({ 'if-none-match': known })
      t.equal(again.status, 304, known)
      t.equal(again.headers.get('etag'), tag)
      t.equal(again.headers.get('vary'), 'accept, accept-encoding')
      t.equal(await again.text(), '')
      t.ok(again.headers.get('content-security-policy'))
    }
  }
  const [plain = '', packedTag = ''] = tags
  for (const [encoding, tag] of [
    ['identity', packedTag],
    ['br', plain]
  ] as const) {
    const other = await fetch(`${server.url}/`, { headers: { ...html, 'accept-encoding': encoding, 'if-none-match': tag } })
    t.equal(other.status, 200, 'the tag of one form says nothing of the other')
    t.equal(await other.text(), page)
  }

  const raw = await exchange(t, server, 'GET /index.html HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br\r\nConnection: close\r\n\r\n')
  const { headers } = readAnswer(raw.split('\r\n\r\n')[0] ?? '')
  t.equal(headers['content-encoding'], 'br')
  t.ok(Number(headers['content-length']) < page.length)
  const packed = await fetch(`${server.url}/`, { headers: { ...html, 'accept-encoding': 'br' } })
  t.equal(await packed.text(), page)
})

t.test('HEAD returns the size of a file and no content', async t => {
  const server = await startServer(t)
  const raw = await exchange(t, server, 'HEAD /logo.svg HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const { status, headers, body } = readAnswer(raw)
  t.equal(status, 200)
  t.equal(headers['content-length'], '6')
  t.equal(body, undefined)
})

t.test('no path leaves the app’s folder [N11]', async t => {
  const server = await startServer(t)
  const paths = [
    '/../package.json',
    '/../sqlite/0001_start.sql',
    '/assets/../../package.json',
    '/%2e%2e/package.json',
    '/..%2fpackage.json',
    '/..\\package.json',
    '//package.json',
    '/package.json%00.js'
  ]
  for (const path of paths) {
    const raw = await exchange(t, server, `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    t.equal(readAnswer(raw).status, 404, path)
  }
})

t.test('a large file read slowly by many is in memory once, and arrives complete [B6]', async t => {
  const server = await startServer(t)
  const path = '/assets/large-ABCD2345.bin'
  t.same(Buffer.from(await (await fetch(server.url + path)).arrayBuffer()), large)
  const before = process.memoryUsage.rss()
  const readers: { socket: Socket; first: Buffer }[] = []
  for (let reader = 0; reader < 25; reader++) {
    const socket = await openTcp(t, server)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const [first] = await once(socket, 'data')
    socket.pause()
    readers.push({ socket, first })
  }
  const held = (process.memoryUsage.rss() - before) / mib
  t.ok(held < 200, `${Math.round(held)} MiB for 25 readers of 24 MiB`)

  const [slow] = readers
  if (!slow) return
  const chunks: Buffer[] = [slow.first]
  let missing = slow.first.indexOf('\r\n\r\n') + 4 + large.length - slow.first.length
  for await (const chunk of slow.socket) {
    chunks.push(chunk)
    missing -= chunk.length
    if (missing === 0) break
  }
  t.ok(Buffer.concat(chunks).subarray(-large.length).equals(large))
  for (const { socket } of readers) socket.resetAndDestroy()
})

t.test('in development its files are read each time and not cached, and the page says so', async t => {
  const server = await startServer(t, { dev: true })
  const read = async (path: string) => {
    const response = await fetch(server.url + path, { headers: path === '/' ? html : {} })
    t.equal(response.headers.get('cache-control'), 'no-store')
    return response.text()
  }
  t.match(await read('/'), /^<!doctype html><head>\n<meta name="afield-dev"><title>/)
  t.equal(await read('/assets/main-ABCD2345.js'), 'console.log(1)')
  t.match(await read('/worker.js'), /registration.unregister/, 'one that was kept before leaves')
  const changed = new Map([
    ['web/assets/main-ABCD2345.js', 'console.log(2)'],
    ['web/assets/new-ABCD2345.js', 'new']
  ])
  for (const [name, text] of changed) files.set(name, Buffer.from(text))
  t.equal(await read('/assets/main-ABCD2345.js'), 'console.log(2)')
  t.equal(await read('/assets/new-ABCD2345.js'), 'new')
})
