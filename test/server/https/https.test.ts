import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { cryptoReady, engine } from '../../../lib/crypto/index.ts'
import type { Server, ServerSetup } from '../../../lib/server/create.ts'
import { issuedCertificate, writeCertificate } from '../../kit/certificate.ts'
import { type ManualClock, manualClock } from '../../kit/manual-clock.ts'
import { lacks } from '../../kit/needs.ts'
import { startTrustedPebble } from '../../kit/pebble.ts'
import { signInBody } from '../../kit/person.ts'
import { portToKeep } from '../../kit/port.ts'
import { startServer } from '../../kit/server.ts'

const name = 'home.example.net'
const yearMs = 365 * 24 * 60 * 60 * 1000

/** A server with `--https auto`, and what it told its operator. */
async function startAuto(t: Test, options: ServerSetup) {
  const heard: string[] = []
  const waiting: (() => void)[] = []
  const tell = (sentences: string) => {
    heard.push(sentences)
    for (const look of waiting.splice(0)) look()
  }
  const server = await startServer(t, { https: 'auto', host: '127.0.0.1', tell, data: join(t.testdirName, 'data'), ...options })
  let from = 0
  /** The next sentence of that kind; those before it are skipped. */
  async function hears(pattern: RegExp): Promise<string> {
    for (;;) {
      for (; from < heard.length; from++) if (pattern.test(heard[from] ?? '')) return heard[from++] ?? ''
      await new Promise<void>(resolve => waiting.push(resolve))
    }
  }
  return { server, hears, heard }
}

/** What a client sees of the certificate: who issued it, and its serial number. */
async function shown(port: number): Promise<{ issuer: string; serial: string }> {
  const socket = connect({ port, host: '127.0.0.1', servername: name, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { issuer, serialNumber } = socket.getPeerCertificate()
  socket.destroy()
  return { issuer: String(issuer.CN), serial: serialNumber }
}

/** Time passes in steps that leave a live connection its heartbeats. */
async function pass(clock: ManualClock, ms: number, beat: () => Promise<unknown>): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10_000) {
    clock.advance(10_000)
    await beat()
  }
}

t.test('a certificate is ordered, renewed and loaded while a socket stays open', { skip: lacks('pebble') }, async t => {
  t.testdir()
  const pebble = await startTrustedPebble(t)
  const clock = manualClock()
  let time = Date.now()
  const { server, hears } = await startAuto(t, {
    publicUrl: `https://${name}`,
    httpsDirectory: pebble.directory,
    httpsChallengePort: pebble.challengePort,
    clock,
    now: () => time
  })
  t.match(await hears(/^HTTPS: /), `issues the certificate for ${name}, and you accept its terms`)
  t.equal((await shown(server.port)).issuer, name, 'until then one that is not trusted')
  await hears(/^The certificate for home.example.net from localhost:\d+ is here, valid until /)
  const turn = () => new Promise(resolve => setImmediate(resolve))
  await pass(clock, 30_000, turn)
  const first = await shown(server.port)
  t.match(first.issuer, 'Pebble Intermediate CA')

  const file = join(server.data, 'https', `${name}.pem`)
  t.same(
    [statSync(join(server.data, 'https')), statSync(file)].map(({ mode }) => mode & 0o777),
    [0o700, 0o600]
  )

  time += 4 * yearMs
  // Until the server believes the new date, it would reckon the end of a sign-in from the old one.
  await pass(clock, 30 * 60_000, turn)
  const { socket, drops } = await signedInSocket(t, server)
  await pass(clock, 30 * 60_000, () => socket.emitWithAck('ping'))
  await hears(/is here, valid until/)
  await pass(clock, 30_000, () => socket.emitWithAck('ping'))
  const second = await shown(server.port)
  t.match(second.issuer, 'Pebble Intermediate CA')
  t.not(second.serial, first.serial)
  t.same(await socket.emitWithAck('ping'), {})
  t.equal(drops(), 0)
})

async function signedInSocket(t: Test, { url }: Server) {
  await cryptoReady()
  const asked = request(`${url}/v1/auth`, { method: 'POST', rejectUnauthorized: false, headers: { 'content-type': 'application/json' } })
  asked.end(JSON.stringify(await signInBody(engine.randomBytes(32))))
  const [answer] = await once(asked, 'response')
  const { token } = JSON.parse(await text(answer))
  const socket = io(url, { path: '/v1/updates', transports: ['websocket'], auth: { token }, rejectUnauthorized: false, forceNew: true })
  t.teardown(() => socket.disconnect())
  await once(socket as never, 'connect')
  let dropped = 0
  socket.on('disconnect', () => dropped++)
  return { socket, drops: () => dropped }
}

t.test('without a certificate the server serves, says why, and tries again', { skip: lacks('pebble') }, async t => {
  t.testdir()
  const pebble = await startTrustedPebble(t)
  const clock = manualClock()
  const other = createServer().listen(pebble.challengePort)
  t.teardown(() => other.close())
  await once(other, 'listening')
  const { server, hears } = await startAuto(t, {
    publicUrl: `https://${name}`,
    httpsDirectory: pebble.directory,
    httpsChallengePort: pebble.challengePort,
    clock
  })
  await hears(/^No certificate for home.example.net: Port \d+, where .+ is used by another program: .+ Next try at \d\d:\d\d\.$/)
  t.equal((await shown(server.port)).issuer, name)
  other.close()
  await once(other, 'close')
  clock.advance(4 * 60_000)
  clock.advance(3 * 60_000)
  await hears(/^The certificate .+ is here/)
})

/** A stand-in for the `tailscale` program, first in the PATH: it prints this status and this certificate. */
function standInForTailscale(t: Test, { status, pem = '' }: { status: object; pem?: string }): void {
  const folder = join(t.testdirName, 'bin')
  mkdirSync(folder)
  writeFileSync(join(folder, 'status.json'), JSON.stringify(status))
  writeFileSync(join(folder, 'pem'), pem)
  const program = join(folder, 'tailscale')
  writeFileSync(
    program,
    `#!/bin/sh\ncase "$*" in\n'status --json') cat '${folder}/status.json' ;;\n'cert --cert-file - --key-file - ${name}') cat '${folder}/pem' ;;\n*) exit 64 ;;\nesac\n`
  )
  chmodSync(program, 0o755)
  const { PATH } = process.env
  process.env['PATH'] = `${folder}:/usr/bin:/bin`
  t.teardown(() => {
    process.env['PATH'] = PATH
  })
}

const loggedIn = { BackendState: 'Running', Self: { DNSName: `${name}.` }, CertDomains: [name] }

t.test('Tailscale that is logged in gets the certificate (a stand-in)', async t => {
  const pem = issuedCertificate(t.testdir(), name)
  standInForTailscale(t, { status: loggedIn, pem })
  const { server, hears } = await startAuto(t, { port: await portToKeep() })
  await hears(/^HTTPS: Tailscale is logged in on this computer and gets the certificate for home.example.net\.$/)
  await hears(/^The certificate for home.example.net from Tailscale is here/)
  t.equal(server.publicUrl, `https://${name}:${server.port}`)
  t.equal(readFileSync(join(server.data, 'https', `${name}.pem`), 'utf8'), pem)
})

const nothing: [why: string, status: object, says: string][] = [
  ['is not logged in', { BackendState: 'NeedsLogin', Self: null }, 'not logged in or not running'],
  ['has HTTPS turned off', { ...loggedIn, CertDomains: null }, 'HTTPS certificates are not enabled'],
  ['says something else', {}, 'not logged in or not running']
]
for (const [why, status, says] of nothing) {
  t.test(`where Tailscale ${why}, the ways to HTTPS are printed, and only this computer is served`, async t => {
    t.testdir()
    standInForTailscale(t, { status })
    const { server, heard } = await startAuto(t, { host: '0.0.0.0', port: 0 })
    t.match(heard[0], 'found no way to a certificate')
    t.match(heard[0], says)
    t.match(heard[0], '--https auto --public-url https://')
    t.equal(server.url, `http://127.0.0.1:${server.port}`)
    t.same(server.publicUrl, undefined)
  })
}

t.test('own files are used as they are', async t => {
  const files = { tlsCert: join(t.testdir(), 'cert.pem'), tlsKey: join(t.testdirName, 'key.pem') }
  writeCertificate(files)
  const { server, heard } = await startAuto(t, files)
  t.match(heard, [`HTTPS: with the certificate in ${files.tlsCert}`])
  t.equal((await shown(server.port)).issuer, 'localhost')
})
