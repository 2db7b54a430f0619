import { once } from 'node:events'
import t, { type Test } from 'tap'
import { endUnderLoad, localIdsIn } from '../endurance/ending.ts'
import { next, signUp } from '../kit/person.ts'
import { startPushProvider } from '../kit/push-provider.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcp } from '../server/raw-http.ts'

/** A server that was asked to end while a request waits for a service that never answers. */
async function startDraining(t: Test) {
  const provider = await startPushProvider(t)
  provider.answer = () => 'never'
  const server = await startServerProcess(t, { args: ['--expo-url', provider.url] })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[x]' } })
  const monitor = await openTcp(t, { port: Number(new URL(server.url).port) })
  const isReady = async () => {
    const answer = once(monitor, 'data')
    monitor.write('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return String((await answer)[0]).startsWith('HTTP/1.1 200')
  }
  t.ok(await isReady())
  const came = provider.next()
  const underWay = ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: 'done', title: 'x', body: 'x' } })
  await came
  const ended = once(server.child, 'exit')
  const askedAt = performance.now()
  server.child.kill('SIGTERM')
  while (await isReady());
  return { child: server.child, isReady, underWay, ended, askedAt }
}

t.test('a second SIGTERM ends the server at once, whatever is in progress [L1]', async t => {
  const { child, isReady, underWay, ended, askedAt } = await startDraining(t)
  const cut = t.rejects(underWay)
  // What comes sooner is the same signal, passed on by a program in between.
  while (performance.now() - askedAt < 500) await isReady()
  child.kill('SIGTERM')
  t.same(await ended, [1, null])
  await cut
  t.ok(performance.now() - askedAt < 4_000)
})

t.test('without a second one the request gets its answer, and the exit code is 0 [L1]', async t => {
  const { underWay, ended, askedAt } = await startDraining(t)
  t.match(await underWay, { status: 200, body: { result: 'failed', reason: 'late' } })
  t.same(await ended, [0, null])
  t.ok(performance.now() - askedAt < 12_000)
})

t.test('calls do not delay a stop: those that wait are to be tried again, and those taken end soon [L1, R3]', async t => {
  const server = await startServerProcess(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const [app, wrapper] = [await ada.connect(), await ada.connect({ clientType: 'session-scoped', sessionId: session })]
  const registered = next(wrapper, 'rpc-registered')
  wrapper.emit('rpc-register', { method: `${session}:slow` })
  await registered
  const isTaken = next(wrapper, 'rpc-request')
  const call = (method: string) => app.emitWithAck('rpc-call', { method, params: '' })
  const [taken, away] = [call(`${session}:slow`), call(`${session}:away`)]
  const queued = Array.from({ length: 40 }, () => call(`${session}:away`))
  const overHttp = ada.call('POST', '/v1/calls', { body: { method: `${session}:away`, params: '' } })
  await isTaken
  await ada.call('GET', '/v1/account/profile')
  const ended = once(server.child, 'exit')
  const askedAt = performance.now()
  server.child.kill('SIGTERM')
  const tryAgain = { ok: false, error: 'RPC method not available' }
  for (const answer of [away, ...queued]) t.same(await answer, tryAgain)
  t.match(await overHttp, { status: 503 })
  t.same(await taken, { ok: false, error: 'RPC target disconnected' })
  t.same(await ended, [0, null])
  t.ok(performance.now() - askedAt < 9_000)
})

/** A server with a session, and what it takes to have it asked to end. */
async function startLoaded(t: Test) {
  const server = await startServerProcess(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const tcp = await openTcp(t, { port: Number(new URL(server.url).port) })
  const ended = once(server.child, 'exit')
  const head = (method: string, path: string, more = '') =>
    `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${ada.token}\r\n${more}\r\n`
  return { server, ada, session, tcp, ended, head }
}

t.test('a slowly read answer arrives complete while the server stops [L1]', async t => {
  const { server, ada, session, tcp, ended, head } = await startLoaded(t)
  const content = 'x'.repeat(1_000_000)
  await ada.send(session, ...Array.from({ length: 20 }, (_, number) => ({ localId: `${number}`, content })))
  const chunks: Buffer[] = []
  tcp.on('data', chunk => chunks.push(chunk))
  const first = once(tcp, 'data')
  tcp.write(head('GET', `/v3/sessions/${session}/messages?after_seq=0&limit=20`))
  await first
  tcp.pause()
  server.child.kill('SIGTERM')
  // Nobody new is let in from the moment on.
  while (
    await fetch(`${server.url}/ready`).then(
      answer => answer.ok,
      () => false
    )
  );
  const closed = once(tcp, 'close')
  tcp.resume()
  t.same(await ended, [0, null])
  await closed
  const raw = Buffer.concat(chunks)
  const start = raw.indexOf('\r\n\r\n') + 4
  const length = Number(/content-length: (\d+)/i.exec(raw.subarray(0, start).toString())?.[1])
  t.ok(length > 8_000_000, `${length} bytes`)
  t.equal(raw.length - start, length)
})

t.test('a body still arriving at shutdown is accepted and stored [L1]', async t => {
  const { server, session, tcp, ended, head } = await startLoaded(t)
  const body = JSON.stringify({ messages: [{ localId: 'late', content: 'eA==' }] })
  tcp.write(
    head('POST', `/v3/sessions/${session}/messages`, `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) +
      body.slice(0, 10)
  )
  await fetch(`${server.url}/health`)
  server.child.kill('SIGTERM')
  while (
    await fetch(`${server.url}/ready`).then(
      answer => answer.ok,
      () => false
    )
  );
  const answer = once(tcp, 'data')
  tcp.write(body.slice(10))
  t.match(String((await answer)[0]), /^HTTP\/1\.1 200 /)
  t.same(await ended, [0, null])
  t.ok(localIdsIn(server.data).has('late'))
})

t.test('after a stop under load every acknowledged write is stored, no answer is cut, and it ends within 9 s [L1]', async t => {
  const { answered, complaints } = await endUnderLoad(t, t.testdir())
  t.same(complaints, [])
  t.ok(answered >= 200, `${answered} answered`)
})
