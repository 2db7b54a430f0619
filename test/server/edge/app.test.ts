import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embedAssets } from '../../../lib/assets.ts'
import type { ServerSetup } from '../../../lib/server/create.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { lacksIpv6 } from '../../kit/needs.ts'
import { startServer } from '../../kit/server.ts'
import { exchange, readAnswer } from '../raw-http.ts'
import { serveSmallApp } from '../small-app.ts'

const page = '<!doctype html><title>Afield</title>'
const files = serveSmallApp({ 'web/index.html': page, 'web/manual.html': 'manual' })

const metricsToken = 'a-token-for-metrics'

async function start(t: Test, options: ServerSetup = {}) {
  const clock = manualClock()
  const server = await startServer(t, { metricsToken, clock, ...options })
  /** How often requests of this route were answered with such a status. */
  const count = async (route: string, status: string) => {
    const text = await (await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })).text()
    return Number(new RegExp(`^afield_http_requests_total\\{route="${route}",status="${status}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }
  const raw = async (head: string) => readAnswer(await exchange(t, server, `${head}\r\nConnection: close\r\n\r\n`))
  return { server, clock, count, raw }
}

t.test('a page of another site is told what it may send, also when many ask [B6]', async t => {
  const { server, clock } = await start(t)
  const ask = async (headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.url}/v1/sessions`, { method: 'OPTIONS', headers: { origin: 'https://x.example', ...headers } })
    const said = ['origin', 'methods', 'headers'].map(name => answer.headers.get(`access-control-allow-${name}`))
    return [answer.status, await answer.text(), answer.headers.get('access-control-max-age'), ...said]
  }
  const rest = ['600', '*', 'GET, POST, PUT, DELETE'] as const
  t.same(await ask(), [204, '', ...rest, '*'])
  const named = { 'access-control-request-headers': 'authorization,x-mine' }
  t.same(await ask(named), [204, '', ...rest, 'authorization,x-mine'])
  // As many as are answered without a body in a second.
  for (let asked = 2; asked < 200; asked += 1) await ask()
  t.same(await ask(), [200, 'ok', ...rest, '*'])
  t.same(await ask(named), [200, 'ok', ...rest, 'authorization,x-mine'])
  clock.advance(1_000)
  t.same(await ask(), [204, '', ...rest, '*'])
})

t.test('each request is counted under what answered it, and never under its path', async t => {
  const { server, count, raw } = await start(t)
  t.equal(await (await fetch(server.url, { headers: { accept: 'text/html' } })).text(), page)
  t.equal(await count('app', '2xx'), 1)
  t.match(await (await fetch(server.url, { headers: { accept: 'text/plain', origin: 'https://app.happy.engineering' } })).text(), 'Welcome')
  t.equal(await count('welcome', '2xx'), 1)
  const none = await raw('GET /v1/nowhere?code=secret HTTP/1.1\r\nHost: localhost\r\nOrigin: https://x.example')
  t.match(none, { status: 404, headers: { 'access-control-allow-origin': '*' }, body: { path: '/v1/nowhere', method: 'GET' } })
  t.equal(await count('other', '4xx'), 1)
  const head = await raw('HEAD /v1/nowhere HTTP/1.1\r\nHost: localhost')
  t.match([head.status, head.body], [404, undefined])
  t.equal(await count('other', '4xx'), 2)
})

t.test('who names another host is turned away before anything else, and counted', async t => {
  const { count, raw } = await start(t)
  t.match(await raw('GET /health HTTP/1.1\r\nHost: evil.example'), { status: 421 })
  t.equal(await count('other', '4xx'), 1)
})

t.test('a file that cannot be read now is answered as a fault, and the server goes on', async t => {
  const errors: unknown[] = []
  const { server } = await start(t, { onError: (error: unknown) => errors.push(error) })
  const fault = new Error('no free handles')
  const names = () => [...files.keys()]
  embedAssets({
    names,
    read() {
      throw fault
    }
  })
  t.teardown(() => embedAssets({ names, read: name => files.get(name) }))
  const answer = await fetch(`${server.url}/manual.html`)
  t.equal(answer.status, 500)
  t.same(errors, [fault])
  t.equal((await fetch(`${server.url}/health`)).status, 200)
})

t.test('the server says where it listens', async t => {
  const { server } = await start(t)
  t.equal(server.url, `http://127.0.0.1:${server.port}`)
})

t.test('the address of a server on IPv6 is one to open', { skip: lacksIpv6() }, async t => {
  const { server } = await start(t, { host: '::1' })
  t.equal(server.url, `http://[::1]:${server.port}`)
  t.equal((await fetch(`${server.url}/health`)).status, 200)
})

t.test('a browser is told to stay on HTTPS where the server has such an address, and only there', async t => {
  const folder = t.testdir()
  const stays = async (name: string, options: ServerSetup = {}) => {
    const server = await startServer(t, { ...options, data: join(folder, name) })
    t.equal(server.url, `http://127.0.0.1:${server.port}`, 'which is not where it listens')
    return (await fetch(server.url, { headers: { accept: 'text/html' } })).headers.get('strict-transport-security')
  }
  t.equal(await stays('https', { publicUrl: 'https://own.example' }), 'max-age=31536000')
  t.equal(await stays('http', { publicUrl: 'http://own.example', insecureHttp: true }), null)
  t.equal(await stays('none'), null)
})

t.test('a server whose port is taken leaves nothing running', async t => {
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const address = taken.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const clock = manualClock()
  await t.rejects(startServer(t, { port, clock }), { name: 'CannotStart', message: /another program uses it/ })
  t.equal(clock.pending, 0)
})
