import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect as connectTcp } from 'node:net'
import { setImmediate as turnEnds } from 'node:timers/promises'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { ownListener, sharedListener } from '../../../../lib/server/edge/listen/listener.ts'
import type { Routes } from '../../../../lib/server/edge/listen/routes.ts'
import { loadUws } from '../../../../lib/server/edge/listen/uws.ts'
import { makeCertificate, writeCertificate } from '../../../kit/certificate.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { portToKeep } from '../../../kit/port.ts'

type Options = Parameters<typeof ownListener>[0]

const serveHello = (app: Routes) => void app.any('/*', response => void response.end('hello'))

function own(t: Test, options: Partial<Options> = {}) {
  const clock = manualClock()
  const said: [level: string, fields: object, text: string][] = []
  const say = (level: string) => (fields: object, text: string) => void said.push([level, fields, text])
  const log = { info: say('info'), error: say('error') } as unknown as Parameters<typeof ownListener>[1]['log']
  const listener = ownListener({ host: '127.0.0.1', port: 0, socket: undefined, socketMode: '660', ...options } as Options, { clock, log })
  t.teardown(() => listener.close())
  return { listener, clock, said }
}

async function greeting(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/`)).text()
}

async function isRefused(port: number): Promise<boolean> {
  const socket = connectTcp({ port, host: '127.0.0.1' })
  const isRefused = await once(socket, 'connect').then(
    () => false,
    () => true
  )
  socket.destroy()
  return isRefused
}

t.test('it listens on a free port, and nobody else gets it', async t => {
  const { listener, clock } = own(t)
  t.equal(listener.secure, false)
  const { port } = await listener.open(serveHello)
  t.ok(port > 0)
  t.equal(await greeting(port), 'hello')
  t.equal(clock.pending, 0, 'there are no files to watch')
  const message = `Port ${port} on 127.0.0.1 cannot be used: another program uses it; choose another with --port.`
  await t.rejects(own(t, { port }).listener.open(serveHello), { name: 'CannotStart', message })
})

t.test('once it stops listening nobody new comes in, and a later server gets the port', async t => {
  const { listener } = own(t, { port: await portToKeep() })
  const { port, stopListening } = await listener.open(serveHello)
  const open = connectTcp({ port, host: '127.0.0.1' })
  t.teardown(() => open.destroy())
  await once(open, 'connect')
  open.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(open, 'data')
  stopListening()
  t.ok(await isRefused(port))
  open.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  t.match(String((await once(open, 'data'))[0]), 'hello', 'open connections continue')
  listener.close()
  t.equal((await own(t, { port }).listener.open(serveHello)).port, port)
})

/** The fingerprint of the certificate that is shown. */
async function shown(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

t.test('a new certificate is shown to new connections, and a broken key leaves the old one in use', async t => {
  const files = makeCertificate(t)
  const { listener, clock, said } = own(t, { ...files, port: await portToKeep() })
  t.equal(listener.secure, true)
  const { port, stopListening } = await listener.open(serveHello)
  const first = await shown(port)

  const key = readFileSync(files.tlsKey)
  writeFileSync(files.tlsKey, 'half a k')
  clock.advance(20_000)
  await turnEnds()
  t.match(said, [['error', { error: {} }, 'The new certificate cannot be used; the old one stays in use']])
  t.equal(await shown(port), first)
  writeFileSync(files.tlsKey, key)
  clock.advance(20_000)
  await turnEnds()
  said.splice(0)

  writeCertificate(files)
  clock.advance(20_000)
  t.not(await shown(port), first)
  t.match(said, [['info', { port }, 'Loaded a new certificate']])

  stopListening()
  t.ok(await isRefused(port))
  t.equal(clock.pending, 0, 'nothing is watched any more')
})

t.test('closing ends the watch over the files too', async t => {
  const { listener, clock } = own(t, makeCertificate(t))
  await listener.open(serveHello)
  t.equal(clock.pending, 1)
  listener.close()
  t.equal(clock.pending, 0)
})

t.test("on another's app it serves at the address of that app, and answers 503 after its end", async t => {
  const uws = loadUws()
  const app = uws.App()
  t.teardown(() => app.close())
  const { promise, resolve } = Promise.withResolvers<number>()
  app.listen('127.0.0.1', 0, socket => resolve(socket ? uws.us_socket_local_port(socket) : 0))
  const listener = sharedListener(app, { port: 7, publicUrl: 'https://own.example' })
  t.equal(listener.secure, true)
  for (const publicUrl of ['http://own.example', undefined]) t.equal(sharedListener(app, { port: 7, publicUrl }).secure, false)
  const { port, stopListening } = await listener.open(serveHello)
  t.equal(port, 7)
  const url = `http://127.0.0.1:${await promise}/`
  stopListening()
  t.equal(await (await fetch(url)).text(), 'hello', 'who listens is not ours to stop')
  listener.close()
  const answer = await fetch(url)
  t.same([answer.status, answer.headers.get('retry-after')], [503, '5'])
})
