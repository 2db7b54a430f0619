import { once } from 'node:events'
import t, { type Test } from 'tap'
import { signUp } from '../kit/person.ts'
import { startPushProvider } from '../kit/push-provider.ts'
import { startServerProcess } from '../kit/server.ts'
import { openTcp } from '../server/raw-http.ts'

/** A server that was asked to end while a request waits for a service that never answers. */
async function startDraining(t: Test) {
  const provider = await startPushProvider(t)
  provider.answer = () => 'never'
  const server = await startServerProcess(t, { data: t.testdir(), args: ['--expo-url', provider.url] })
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

t.test('a second SIGTERM ends the server at once, however long something is under way [L1]', async t => {
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
