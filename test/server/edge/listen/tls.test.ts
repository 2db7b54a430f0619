import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate as turnEnds } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { cryptoReady, engine } from '../../../../lib/crypto/index.ts'
import { makeCertificate, writeCertificate } from '../../../kit/certificate.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { signInBody } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

/** A server with such a certificate, and what its clients have to trust. */
async function startSecurely(t: Test) {
  const files = makeCertificate(t)
  const ca = readFileSync(files.tlsCert)
  return { ca, server: await startServer(t, { ...files, data: join(t.testdirName, 'data') }) }
}

t.test('with a certificate everything is HTTPS, sockets too', async t => {
  const { server, ca } = await startSecurely(t)
  t.equal(server.url, `https://127.0.0.1:${server.port}`)

  await cryptoReady()
  const signedIn = await post(server.url, '/v1/auth', ca, await signInBody(engine.randomBytes(32)))
  t.equal(signedIn.status, 200)
  const { token } = JSON.parse(signedIn.body)

  const socket = io(server.url, { path: '/v1/updates', transports: ['websocket'], auth: { token }, ca: ca.toString(), forceNew: true })
  t.teardown(() => socket.disconnect())
  await once(socket as never, 'connect')
  t.same(await socket.emitWithAck('ping'), {})
})

t.test('a new certificate is loaded while connections stay open, a broken one is not', async t => {
  const files = makeCertificate(t)
  const ca = readFileSync(files.tlsCert)
  const clock = manualClock()
  const said: string[] = []
  const say = (_fields: object, message: string) => void said.push(message)
  const logger = { error: say, warn: say, info: say, debug() {}, isLevelEnabled: () => true }
  const server = await startServer(t, { ...files, clock, logger, data: join(t.testdirName, 'data') })
  await cryptoReady()
  const { token } = JSON.parse((await post(server.url, '/v1/auth', ca, await signInBody(engine.randomBytes(32)))).body)
  const socket = io(server.url, { path: '/v1/updates', transports: ['websocket'], auth: { token }, ca: ca.toString(), forceNew: true })
  t.teardown(() => socket.disconnect())
  await once(socket as never, 'connect')
  let drops = 0
  socket.on('disconnect', () => drops++)

  const shown = async () => {
    const bare = connect({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(bare, 'secureConnect')
    const { fingerprint256 } = bare.getPeerCertificate()
    bare.destroy()
    return fingerprint256
  }
  const first = await shown()
  writeFileSync(files.tlsCert, 'half a certifi')
  clock.advance(20_000)
  await turnEnds()
  t.match(said, [/Serving/, /cannot be used; the old one stays/])
  t.equal(await shown(), first)

  writeCertificate(files)
  clock.advance(10_000)
  t.equal(await shown(), first, 'not before it has stayed the same for a while')
  clock.advance(10_000)
  const second = await shown()
  t.not(second, first)
  t.same(await socket.emitWithAck('ping'), {})
  t.equal(drops, 0)
})

t.test('the client rejects an untrusted certificate', async t => {
  const { server } = await startSecurely(t)
  await t.rejects(fetch(`${server.url}/health`))
})

t.test('plain HTTP on the port of HTTPS gets no answer', async t => {
  const { server } = await startSecurely(t)
  await t.rejects(fetch(`http://127.0.0.1:${server.port}/health`))
})

t.test('only current TLS versions are accepted, and only ciphers with authenticated encryption', async t => {
  const { server, ca } = await startSecurely(t)
  const shake = (maxVersion: 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3', ciphers = 'DEFAULT') =>
    new Promise<string | null>(resolve => {
      const socket: TLSSocket = connect({
        port: server.port,
        host: '127.0.0.1',
        ca,
        minVersion: 'TLSv1',
        maxVersion,
        ciphers: `${ciphers}:@SECLEVEL=0`
      })
      socket.once('error', () => resolve(null))
      socket.once('secureConnect', () => {
        resolve(socket.getProtocol())
        socket.destroy()
      })
    })
  t.equal(await shake('TLSv1.3'), 'TLSv1.3')
  t.equal(await shake('TLSv1.2'), 'TLSv1.2')
  t.equal(await shake('TLSv1.1'), null)
  t.equal(await shake('TLSv1.2', 'ECDHE+AESGCM:ECDHE+CHACHA20'), 'TLSv1.2')
  t.equal(await shake('TLSv1.2', 'ECDHE+AES+SHA1'), null)
})

t.test('an unusable certificate or key is rejected in a sentence that says why', async t => {
  const { tlsCert, tlsKey } = makeCertificate(t)
  const fileOf = (name: string) => join(t.testdirName, name)
  const refused = (given: { tlsCert: string; tlsKey: string }, message: string) =>
    t.rejects(startServer(t, { ...given, data: fileOf('data') }), { name: 'CannotStart', message, exitCode: 78 })
  const other = fileOf('other.pem')
  execFileSync('openssl', ['ecparam', '-genkey', '-name', 'prime256v1', '-noout', '-out', other])
  await refused({ tlsCert, tlsKey: other }, `The key ${other} does not belong to the certificate ${tlsCert}.`)
  await refused({ tlsCert, tlsKey: tlsCert }, `${tlsCert} contains no key in PEM format without a passphrase; see --tls-key.`)
  const nonsense = fileOf('nonsense.pem')
  writeFileSync(nonsense, 'hello')
  await refused({ tlsCert, tlsKey: nonsense }, `${nonsense} contains no key in PEM format without a passphrase; see --tls-key.`)
  await refused({ tlsCert: nonsense, tlsKey }, `${nonsense} contains no certificate in PEM format; see --tls-cert.`)
  const none = fileOf('none.pem')
  await refused({ tlsCert: none, tlsKey }, `The certificate ${none} cannot be read (ENOENT); see --tls-cert.`)
  await refused({ tlsCert, tlsKey: none }, `The key ${none} cannot be read (ENOENT); see --tls-key.`)
})

function post(url: string, path: string, ca: Buffer, body: object): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method: 'POST', ca, headers: { 'content-type': 'application/json' } }, async answer =>
      resolve({ status: answer.statusCode, body: await text(answer) })
    )
    asked.once('error', reject)
    asked.end(JSON.stringify(body))
  })
}
