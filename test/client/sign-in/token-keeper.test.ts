import { registerHooks } from 'node:module'
import t, { type Test } from 'tap'
import { createRest, cryptoReady, type Fetch, keepToken, openSocket, type SignedIn, signIn } from '../../../lib/client/index.ts'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import { wantsLegacy } from '../../../lib/client/sign-in/token-keeper.ts'
import { engine } from '../../../lib/crypto/index.ts'
import { movingTime } from '../../kit/moving-time.ts'
import { call } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'

t.before(() => cryptoReady())

const hours = 60 * 60_000

/** A device that is signed in, on a server and in a time that a test moves by hand. */
async function startWorld(t: Test) {
  const time = movingTime()
  const server = await startServer(t, { now: time.now, clock: time.clock })
  const kept = await signIn({ server: server.url, secret: engine.randomBytes(32), fetch, deviceName: 'phone' })
  const renewed: SignedIn[] = []
  const options = { server: server.url, fetch, kept, now: () => time.at, onRenewed: (signedIn: SignedIn) => void renewed.push(signedIn) }
  return { time, server, kept, renewed, options }
}

t.test('a browser that cannot load the key to renew a token is not signed out: it tries again', async t => {
  let isCutOff = true
  registerHooks({
    resolve(specifier, context, next) {
      if (isCutOff && specifier === './renewal.ts') throw new Error('away')
      return next(specifier, context)
    }
  })
  const { time, kept, options } = await startWorld(t)
  const source = keepToken(options)
  time.at += 25 * hours
  await t.rejects(source.token(), { name: 'Unreachable', reason: 'network', cause: { message: 'away' } })
  isCutOff = false
  t.not(await source.token(), kept.token)
})

t.test('a young token is used as it is, and renewed before it expires [A5]', async t => {
  const { time, server, kept, renewed, options } = await startWorld(t)
  const source = keepToken(options)
  const rest = createRest({ server: server.url, token: source, fetch })
  time.at += 11 * hours
  t.equal(await source.token(), kept.token)
  t.equal(renewed.length, 0)

  time.at += 20 * hours
  const { devices } = await rest.call('listDevices', {})
  t.equal(devices.length, 1, 'it is the same device')
  t.equal(renewed.length, 1)
  t.equal(renewed[0]?.token, await source.token())
})

t.test('many simultaneous requests renew once [A5]', async t => {
  const { time, renewed, options } = await startWorld(t)
  const source = keepToken(options)
  time.at += 25 * hours
  const tokens = await Promise.all(Array.from({ length: 10 }, () => source.token()))
  t.equal(new Set(tokens).size, 1)
  t.equal(renewed.length, 1)
})

t.test('an unreachable server does not matter while the token is valid', async t => {
  const { time, kept, options } = await startWorld(t)
  const away: Fetch = () => Promise.reject(new Error('away'))
  const source = keepToken({ ...options, fetch: away })
  time.at += 23 * hours
  t.equal(await source.token(), kept.token)
  time.at += 2 * hours
  await t.rejects(source.token(), { name: 'Unreachable' })
})

t.test('a token renewed by another tab is used without a request', async t => {
  const { time, options, kept } = await startWorld(t)
  time.at += 25 * hours
  const first = keepToken(options)
  const token = await first.token()
  const theirs: SignedIn = { token, renewal: kept.renewal && { ...kept.renewal, expiresAt: time.at + 24 * hours } }
  const fetched: string[] = []
  const counting: Fetch = (to, init) => {
    fetched.push(to)
    return fetch(to, init)
  }
  t.equal(await keepToken({ ...options, fetch: counting, latest: async () => theirs }).token(), token)
  t.same(fetched, [])
})

t.test('a rejected token that no other tab has renewed is renewed here', async t => {
  const { kept, options } = await startWorld(t)
  t.not(await keepToken({ ...options, latest: async () => kept }).renew(kept.token), kept.token)
})

t.test('a token of another tab that expires now is renewed here', async t => {
  const { time, kept, options, renewed } = await startWorld(t)
  time.at += 25 * hours
  const theirs: SignedIn = { token: 'theirs', renewal: kept.renewal && { ...kept.renewal, expiresAt: time.at + 60_000 } }
  t.not(await keepToken({ ...options, latest: async () => theirs }).token(), 'theirs')
  t.equal(renewed.length, 1)
})

t.test('by the clock of this device, a token of today needs no renewal', async t => {
  const { options, kept } = await startWorld(t)
  const { now: _, ...others } = options
  const today = { ...kept, renewal: kept.renewal && { ...kept.renewal, expiresAt: Date.now() + 24 * hours } }
  t.equal(await keepToken({ ...others, kept: today, fetch: () => Promise.reject(new Error('not needed')) }).token(), kept.token)
})

t.test('a device whose clock is far behind is not signed out: a rejected token is renewed once [C2]', async t => {
  const { time, server, options } = await startWorld(t)
  const began = time.at
  time.at += 25 * hours
  const rest = createRest({ server: server.url, token: keepToken({ ...options, now: () => began }), fetch })
  t.equal((await rest.call('listDevices', {})).devices.length, 1)

  time.at += 25 * hours
  const socket = openSocket({ server: server.url, token: keepToken({ ...options, now: () => began }), scope: { as: 'app' }, WebSocket })
  t.teardown(() => socket.close())
  await new Promise<void>(done => socket.onState(({ type }) => type === 'live' && done()))
  t.pass('it is live')
})

t.test('a removed device is told so', async t => {
  const { time, server, kept, options } = await startWorld(t)
  await call(server, 'DELETE', '/v1/devices/current', { token: kept.token })
  const source = keepToken(options)
  await t.rejects(createRest({ server: server.url, token: source, fetch }).call('listSessions', {}), { name: 'Refused', status: 401 })
  const socket = openSocket({ server: server.url, token: source, scope: { as: 'app' }, WebSocket })
  t.teardown(() => socket.close())
  await new Promise<void>(done => socket.onState(({ type }) => type === 'refused' && done()))
  time.at += 25 * hours
  await t.rejects(source.token(), { name: 'Refused', status: 401 })
})

t.test('another server at the same address gets no signature', async t => {
  const { time, options, kept } = await startWorld(t)
  const other = await startServer(t, { data: t.testdir({ other: {} }) })
  time.at += 25 * hours
  await t.rejects(keepToken({ ...options, kept, server: other.url }).token(), {
    name: 'Unreachable',
    message: 'The server at this address is not an Afield server.'
  })
})

t.test('a token with half a day left is renewed beside its use, and one with more is not [A5]', async t => {
  for (const [left, isRenewed] of [
    [12 * hours + 1, false],
    [12 * hours, true],
    [60_001, true]
  ] as const) {
    let asked = 0
    const source = keptFor(left, async () => {
      asked++
      return { token: 'new' }
    })
    t.equal(await source.token(), 'old', 'it is still valid')
    t.equal(asked, isRenewed ? 1 : 0, `${left}`)
    await new Promise(resolve => setImmediate(resolve))
    t.equal(await source.token(), isRenewed ? 'new' : 'old')
  }
})

t.test('an early renewal that fails is retried at the next use, and nobody is told [A5]', async t => {
  let asked = 0
  const source = keptFor(hours, async () => {
    if (++asked === 1) throw new Unreachable('network')
    return { token: 'new' }
  })
  for (const token of ['old', 'old', 'new']) {
    t.equal(await source.token(), token)
    await new Promise(resolve => setImmediate(resolve))
  }
  t.equal(asked, 2)
})

/** A token that expires after so many ms, where `latest` has the next one. */
function keptFor(expiresAt: number, latest: () => Promise<{ token: string }>) {
  const kept = { token: 'old', renewal: { deviceSeed: '', account: '', serverKeyId: '', expiresAt } }
  return keepToken({ server: 'http://localhost', fetch, kept, latest, onRenewed() {}, now: () => 0 })
}

t.test('a device signs in the old way only where the new one is not offered', async t => {
  const cases: [error: unknown, isLegacy: boolean][] = [
    [new Refused(404, 'Not found'), true],
    [new Refused(400, 'This server is not known under that origin'), true],
    [new Refused(400, 'Another'), false],
    [new Refused(401, 'Not found'), false],
    [new Unreachable('strange-answer'), true],
    [new Unreachable('network'), false],
    [new Error('This server is not known under that origin'), false],
    [Object.assign(new Error('away'), { status: 404 }), false]
  ]
  for (const [error, isLegacy] of cases) t.equal(wantsLegacy(error), isLegacy, String(error))
})
