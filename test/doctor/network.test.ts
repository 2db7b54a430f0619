import dns from 'node:dns'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import type { Finding } from '../../lib/doctor/finding.ts'
import { examineAddress, examinePush } from '../../lib/doctor/network.ts'
import { completeOptions, type GivenOptions } from '../../lib/options.ts'
import { writeCertificate } from '../kit/certificate.ts'

const own = { mayRun: true }
const now = Date.UTC(2030, 0, 2)
/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:1'

t.test('an address that answers, whose clock is right and through which a WebSocket passes is well', async t => {
  const url = await serve(t)
  t.strictSame(await examine({ publicUrl: `${url}/` }), [
    { of: 'address', state: 'ok', says: `${url} answers` },
    { of: 'clock', state: 'ok', says: 'matches the clock at that address' },
    { of: 'WebSocket', state: 'ok', says: 'passes' }
  ])
})

t.test('the public address comes first, then the one that the running server reports, then that of the options', async t => {
  const url = await serve(t)
  const { port } = new URL(url)
  for (const options of [{ publicUrl: url }, { publicUrl: url, port: 1 }]) {
    t.match((await examine(options, { mayRun: true, url: nowhere }))[0], { says: `${url} answers` })
  }
  t.match((await examine({ port: 1 }, { mayRun: true, url }))[0], { says: `${url} answers` })
  for (const [host, shown] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', 'localhost'],
    ['::', 'localhost']
  ] as const) {
    t.match((await examine({ host, port: Number(port), insecureHttp: true }))[0], { says: `http://${shown}:${port} answers` })
  }
  const [none] = await examine({ host: '::1', port: Number(port) })
  t.match(none, { of: 'own address', state: 'fail', says: /^http:\/\/\[::1\]:\d+ is not responding \(/ })
  const [certified] = await examine({ host: 'localhost', port: Number(port), tlsCert: 'cert.pem', tlsKey: 'key.pem' })
  t.match(certified, { of: 'own address', says: new RegExp(`^https://localhost:${port} is not responding`) })
})

t.test('a server that answers while none runs on this directory is reported as another one', async t => {
  const url = await serve(t)
  const options = { port: Number(new URL(url).port), data: '/some/where' }
  const [other, ...more] = await examine(options, { mayRun: false })
  t.match(other, {
    of: 'address',
    state: 'warn',
    says: `another server answers at ${url}: none is running on /some/where`,
    advice: /--data.* --port/
  })
  t.same(more, [])
  t.match((await examine({ ...options, publicUrl: url }, { mayRun: false }))[0], { state: 'ok' })
  const failing = await serve(t, { health: (_, response) => void response.writeHead(500).end() })
  t.match((await examine({ port: Number(new URL(failing).port) }, { mayRun: false }))[0], { state: 'fail', says: /answers 500/ })
})

t.test('each status of a wrong answer has its advice', async t => {
  for (const [status, advice] of [
    [421, /^The server does not know this host name: start it with --public-url$/],
    [502, /^The proxy does not reach the server: .*proxy_pass/],
    [504, /^The proxy does not reach the server: .*proxy_pass/],
    [503, /^See the server’s log/],
    [505, /^The proxy speaks HTTP\/1\.0 to the server .*recipes: /],
    [404, /^Another program may be answering there/]
  ] as const) {
    const url = await serve(t, { health: (_, response) => void response.writeHead(status).end() })
    t.match((await examine({ publicUrl: url }))[0], { of: 'address', state: 'fail', says: `${url}/health answers ${status}`, advice })
  }
})

t.test('a clock that is more than a minute off is reported with its direction', async t => {
  const clockAt = async (date: string | undefined) => {
    const url = await serve(t, { date })
    return (await examine({ publicUrl: url })).find(({ of }) => of === 'clock')
  }
  const at = (ms: number) => new Date(now + ms).toUTCString()
  t.match(await clockAt(at(60_000)), { state: 'ok', says: 'matches the clock at that address' })
  t.match(await clockAt(at(-60_000)), { state: 'ok' })
  t.match(await clockAt(at(61_000)), { state: 'warn', says: '61 s behind the clock at that address', advice: /^Synchronize it/ })
  t.match(await clockAt(at(-90_000)), { state: 'warn', says: '90 s ahead of the clock at that address' })
  t.match(await clockAt(undefined), { state: 'ok', says: '2030-01-02T00:00:00.000Z; nothing to compare it with' })
})

t.test('a WebSocket passes if the server greets through it, at once or a moment later', async t => {
  const socketAt = async (upgrade?: Upgrade) =>
    (await examine({ publicUrl: await serve(t, { upgrade }) })).find(({ of }) => of === 'WebSocket')
  const accepted = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
  const asked: IncomingMessage[] = []
  t.match(
    await socketAt((request, socket) => {
      asked.push(request)
      socket.write(`${accepted}0{"sid":"x"}`)
    }),
    { state: 'ok', says: 'passes' }
  )
  t.match(asked[0], {
    url: '/v1/updates/?EIO=4&transport=websocket',
    headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': /^[\w+/]{22}==$/ }
  })
  t.match(await socketAt((_, socket) => void socket.write(accepted, () => setImmediate(() => socket.write('0{"sid":"x"}')))), {
    state: 'ok'
  })
  const blocked = { state: 'fail', says: 'blocked: the app and the wrapper need it', advice: /proxy_set_header Upgrade .*recipes: / }
  t.match(await socketAt((_, socket) => void socket.write(`${accepted}no greeting`)), blocked)
  t.match(await socketAt((_, socket) => void socket.destroy()), blocked)
  t.match(await socketAt((_, socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')), blocked)
})

t.test('an address that nobody listens at, or whose name nobody knows, is reported with what to check', async t => {
  t.strictSame(await examine({ publicUrl: nowhere }), [
    {
      of: 'public address',
      state: 'fail',
      says: `${nowhere} is not responding (ECONNREFUSED)`,
      advice: 'Nothing is listening there: start the server, or the reverse proxy'
    }
  ])
  t.match(await examine({ port: 1 }), [{ of: 'own address' }])
  for (const code of ['ENOTFOUND', 'EAI_AGAIN']) {
    const unknown = (_host: string, _how: object, done: (error: Error) => void) => done(Object.assign(new Error(code), { code }))
    const lookups = t.intercept(dns, 'lookup', { value: unknown })
    const found = await examine({ publicUrl: 'https://afield.invalid' })
    lookups.restore()
    t.match(found, [{ says: `https://afield.invalid is not responding (${code})`, advice: /^The host name does not resolve here/ }])
  }
  const hangsUp = await serve(t, { health: request => void request.socket.destroy() })
  t.match(await examine({ publicUrl: hangsUp }), [{ says: /\(ECONNRESET\)/, advice: /^Check the network, the firewall/ }])
})

t.test('a certificate that is not accepted is reported with its fault, at the own address and at the public one', async t => {
  const url = await serveHttps(t)
  t.match(await examine({ publicUrl: url }), [{ of: 'public address', state: 'fail', says: /self-signed/ }])
  const { hostname, port } = new URL(url)
  t.match(await examine({ host: hostname, port: Number(port), tlsCert: 'cert.pem', tlsKey: 'key.pem' }), [
    { of: 'own address', says: /self-signed/ }
  ])
})

t.test('at an address with HTTPS the certificate is checked, and the proxy unless the server speaks it itself', async t => {
  const url = await serveHttps(t)
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, readFileSync(`${t.testdirName}/cert.pem`, 'utf8')])
  t.teardown(() => setDefaultCACertificates(before))
  const names = async (options: GivenOptions) => (await examineAddress(completeOptions(options), own, Date.now)).map(({ of }) => of)
  const common = ['address', 'clock', 'certificate', 'WebSocket']
  const tls = { tlsCert: 'cert.pem', tlsKey: 'key.pem' }
  t.strictSame(await names({ publicUrl: url, ...tls }), common)
  t.strictSame(await names({ publicUrl: url, https: 'auto', host: '0.0.0.0' }), common)
  t.strictSame(await names({ publicUrl: url }), [...common, 'uploads'])
  t.match((await examineAddress(completeOptions({ publicUrl: url, ...tls }), own, Date.now))[2], { state: 'warn', says: /expires in / })
})

t.test('any answer of the notification service will do, and none is needed where it is off', async t => {
  t.strictSame(await examinePush({ expoUrl: 'off' }), { of: 'notifications', state: 'ok', says: 'off' })
  const url = await serve(t)
  t.strictSame(await examinePush({ expoUrl: `${url}/push` }), { of: 'notifications', state: 'ok', says: `${url}/push answers` })
  t.match(await examinePush({ expoUrl: nowhere }), {
    of: 'notifications',
    state: 'warn',
    says: `${nowhere} is not responding (ECONNREFUSED)`,
    advice: /--expo-url off$/
  })
})

type Upgrade = (request: IncomingMessage, socket: Duplex) => void

interface Behaviour {
  health?: (request: IncomingMessage, response: ServerResponse) => void
  /** What its clock says; undefined: nothing. */
  date?: string | undefined
  upgrade?: Upgrade | undefined
}

/** A server that answers as Afield does, or otherwise. */
async function serve(t: Test, behaviour: Behaviour = {}): Promise<string> {
  const date = 'date' in behaviour ? behaviour.date : new Date(now).toUTCString()
  const { health = (_, response) => response.end('{}') } = behaviour
  const server = createServer((request, response) => {
    response.sendDate = false
    if (date !== undefined) response.setHeader('date', date)
    if (request.url === '/health') health(request, response)
    else response.writeHead(404).end()
  })
  server.on('upgrade', behaviour.upgrade ?? greet)
  return `http://127.0.0.1:${await listen(t, server)}`
}

function greet(_: IncomingMessage, socket: Duplex): void {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n0{"sid":"x"}')
}

async function serveHttps(t: Test): Promise<string> {
  const place = t.testdir()
  const [tlsKey, tlsCert] = [join(place, 'key.pem'), join(place, 'cert.pem')]
  writeCertificate({ tlsKey, tlsCert })
  const server = createHttps({ key: readFileSync(tlsKey), cert: readFileSync(tlsCert) }, (_, response) => void response.end('{}'))
  return `https://localhost:${await listen(t, server)}`
}

async function listen(t: Test, server: ReturnType<typeof createServer | typeof createHttps>): Promise<number> {
  const sockets = new Set<Duplex>()
  server.on('connection', socket => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as AddressInfo).port
}

function examine(options: GivenOptions, serving: Parameters<typeof examineAddress>[1] = own): Promise<Finding[]> {
  return examineAddress(completeOptions({ host: '127.0.0.1', ...options }), serving, () => now)
}
