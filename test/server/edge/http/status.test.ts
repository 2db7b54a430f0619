import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { call, signUp } from '../../../kit/person.ts'
import { startPushProvider } from '../../../kit/push-provider.ts'
import { startServer } from '../../../kit/server.ts'
import { openTcp } from '../../raw-http.ts'

t.test('a running server is healthy and ready', async t => {
  const server = await startServer(t)
  t.match(await call(server, 'GET', '/health'), { status: 200, body: { status: 'ok', service: 'afield' } })
  t.same(await call(server, 'GET', '/ready'), { status: 200, body: { ready: true } })
})

t.test('doctor learns what proxies left of its request, and no address that it did not claim', async t => {
  const server = await startServer(t, { trustProxy: 'loopback', publicUrl: 'https://afield.example.net' })
  const claim = '192.0.2.1'
  const received = async (headers: Record<string, string>) =>
    (await call(server, 'GET', `/health?claim=${claim}`, { headers })).body.received
  const origin = 'https://elsewhere.example'
  t.same(await received({ origin, 'x-forwarded-for': claim }), { url: server.url, origin, forwarded: 'trusted', isClaimBelieved: true })
  t.match(await received({ 'x-forwarded-for': `${claim}, 203.0.113.7` }), { origin: '', forwarded: 'trusted', isClaimBelieved: false })
  t.match(await received({}), { forwarded: 'no', isClaimBelieved: false })
  t.notOk('received' in (await call(server, 'GET', '/health')).body)

  const untrusting = await startServer(t, { data: join(t.testdirName, 'other') })
  const { body } = await call(untrusting, 'GET', `/health?claim=${claim}`, { headers: { 'x-forwarded-for': claim } })
  t.match(body.received, { forwarded: 'untrusted', isClaimBelieved: false })
})

t.test('monitors that ask with HEAD get the same answer without its body', async t => {
  const server = await startServer(t)
  const monitor = await openTcp(t, server)
  for (const path of ['/health', '/ready']) {
    const answer = once(monitor, 'data')
    monitor.write(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const [bytes] = await answer
    t.match(String(bytes), /^HTTP\/1\.1 200 [\s\S]*content-length: \d+[\s\S]*\r\n\r\n$/i, path)
  }
})

t.test('while closing it is not ready from the first moment, and finishes requests in progress [L1]', async t => {
  const provider = await startPushProvider(t)
  const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>()
  const server = await startServer(t, {
    push: async (_, tokens) => {
      await mayAnswer
      return tokens.map(token => ({ token, outcome: 'delivered' }))
    },
    expoUrl: provider.url
  })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[x]' } })
  const monitor = await openTcp(t, server)
  const ask = async () => {
    const answer = new Promise<string>(resolve => monitor.once('data', bytes => resolve(String(bytes))))
    monitor.write('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return answer
  }
  t.match(await ask(), /^HTTP\/1\.1 200 .*"ready":true/s)

  const inFlight = ada.call('POST', `/v1/sessions/${session}/push-event`, { body: { kind: 'done', title: 'x', body: 'x' } })
  // Answered after the other was taken in.
  await ada.call('GET', '/v1/sessions')
  const closed = server.close()
  t.match(await ask(), /^HTTP\/1\.1 503 .*"ready":false,"reason":"draining"/s)
  await t.rejects(openTcp(t, server), 'nobody new is let in')
  letAnswer()
  t.match(await inFlight, { status: 200, body: { result: 'sent' } })
  await closed
})

t.test('when the store fails it is neither healthy nor ready, and logs it once [F5]', async t => {
  const errors: string[] = []
  const silent = () => {}
  const logger = {
    error: (_: object, message: string) => errors.push(message),
    warn: silent,
    info: silent,
    debug: silent,
    isLevelEnabled: () => false
  }
  const server = await startServer(t, { logger, onError: silent })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  // More than is kept in memory, on a disk that then loses it.
  for (let number = 0; number < 24; number += 1) await ada.send(session, { localId: `${number}`, content: 'x'.repeat(1_000_000) })
  for (const file of ['afield.db', 'afield.db-wal']) writeFileSync(join(server.data, file), 'x'.repeat(30_000_000))
  t.equal((await ada.call('GET', `/v3/sessions/${session}/messages`)).status, 503)
  await server.broken
  t.same(await call(server, 'GET', '/ready'), { status: 503, body: { ready: false, reason: 'storage-failed' } })
  t.match(await call(server, 'GET', '/health'), { status: 503, body: { status: 'error' } })
  for (const path of ['/health', '/ready']) t.equal((await fetch(server.url + path)).headers.get('retry-after'), '5', path)
  t.equal((await ada.call('GET', '/v1/sessions')).status, 503)
  t.same(errors, ['Storage failed'])
})
