import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { get, request } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { cryptoReady, engine } from '../../../../lib/crypto/index.ts'
import type { ServerSetup } from '../../../../lib/server/create.ts'
import { lacks } from '../../../kit/needs.ts'
import { call, signInBody } from '../../../kit/person.ts'
import { startReverseProxy } from '../../../kit/reverse-proxy.ts'
import { startServer } from '../../../kit/server.ts'

const publicUrl = 'https://home.example.net'

/** The path of a test is too long for a socket. */
function shortFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'afield-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function startAt(t: Test, socket: string, options: ServerSetup = {}) {
  return startServer(t, { socket, publicUrl, data: t.testdir(), ...options })
}

async function statusAt(socketPath: string, host = 'home.example.net'): Promise<number | undefined> {
  const [answer] = await once(get({ socketPath, path: '/health', headers: { host } }), 'response')
  answer.resume()
  return answer.statusCode
}

t.test('the server listens on a Unix socket for those whom its mode lets in, and removes it', async t => {
  const socket = join(shortFolder(t), 'a.sock')
  const server = await startAt(t, socket)
  t.same([server.url, server.port], [`unix:${socket}`, 0])
  t.equal(statSync(socket).mode & 0o777, 0o660)
  t.equal(await statusAt(socket), 200)
  t.equal(await statusAt(socket, 'whatever'), 200, 'a proxy may name it as it likes')
  await server.close()
  t.notOk(existsSync(socket))
  const open = await startAt(t, socket, { socketMode: '666' })
  t.equal(statSync(socket).mode & 0o777, 0o666)
  await open.close()
})

t.test('a socket that a killed server left is replaced', async t => {
  const socket = join(shortFolder(t), 'a.sock')
  const script = `require('node:net').createServer().listen(${JSON.stringify(socket)}, () => console.log('listening'))`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  t.ok(existsSync(socket))
  await startAt(t, socket)
  t.equal(await statusAt(socket), 200)
})

t.test('why a socket cannot be used is said in one sentence, and what is there stays', async t => {
  const folder = shortFolder(t)
  const refused = (socket: string, message: string) => t.rejects(startAt(t, socket), { name: 'CannotStart', message })
  const file = join(folder, 'notes')
  writeFileSync(file, 'mine')
  await refused(file, `${file} exists and is not a socket; choose another --socket.`)
  t.equal(readFileSync(file, 'utf8'), 'mine')
  const taken = join(folder, 'taken.sock')
  const other = createServer().listen(taken)
  await once(other, 'listening')
  await refused(taken, `Another program listens at ${taken}; choose another --socket.`)
  t.ok(existsSync(taken))
  other.close()
  const none = join(folder, 'none', 'a.sock')
  await refused(none, `The socket ${none} cannot be made: its folder does not exist; choose another --socket.`)
  await refused(join(file, 'a.sock'), `The socket ${join(file, 'a.sock')} cannot be made: ENOTDIR; choose another --socket.`)
  const long = join(folder, `${'a'.repeat(120)}.sock`)
  await refused(long, `${long} is too long for a socket, at most 107 bytes; choose another --socket.`)
})

t.test('behind nginx, sockets work and each client has limits of its own', { skip: lacks('nginx') }, async t => {
  const socket = join(shortFolder(t), 'a.sock')
  await startAt(t, socket, { limits: 'default' })
  const change = (recipe: string) => recipe.replace('http://127.0.0.1:3005', `http://unix:${socket}:`)
  const { url, authority } = await startReverseProxy(t, 'nginx', { serverPort: 0, change })
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(authority, 'utf8')])
  await cryptoReady()
  const statuses = []
  let token = ''
  for (let count = 0; count < 5; count++) {
    const answer = await call({ url }, 'POST', '/v1/auth', { body: await signInBody(engine.randomBytes(32)) })
    statuses.push(answer.status)
    token ||= answer.body.token
  }
  t.same(statuses, [200, 200, 200, 200, 429], 'one address')
  const live = io(url, { path: '/v1/updates', transports: ['websocket'], auth: { token }, rejectUnauthorized: false, forceNew: true })
  t.teardown(() => live.disconnect())
  await once(live as never, 'connect')
  t.same(await live.emitWithAck('ping'), {})
})

t.test('the address of a client is the one that the proxy reports', async t => {
  const socket = join(shortFolder(t), 'a.sock')
  await startAt(t, socket, { limits: 'default', trustProxy: '10.0.0.0/8' })
  await cryptoReady()
  const statuses = []
  for (let count = 0; count < 5; count++) statuses.push(await signInAt(socket, `192.0.2.${count}, 10.0.0.1`))
  t.same(statuses, [200, 200, 200, 200, 200])
})

async function signInAt(socketPath: string, forwarded: string): Promise<number | undefined> {
  const body = JSON.stringify(await signInBody(engine.randomBytes(32)))
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-forwarded-for': forwarded }
  const asked = request({ socketPath, path: '/v1/auth', method: 'POST', headers })
  asked.end(body)
  const [answer] = await once(asked, 'response')
  answer.resume()
  return answer.statusCode
}
