import { createHash, randomBytes } from 'node:crypto'
import { globSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { pause } from '../../../lib/async/pause.ts'
import { cryptoReady, signForServer, signingKeypair, toBase64 } from '../../../lib/crypto/index.ts'
import { StoreTime } from '../../../lib/server/chores/store-time.ts'
import { openStore } from '../../../lib/store/open.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { lacks } from '../../kit/needs.ts'
import { call, signUp } from '../../kit/person.ts'
import { startServer, startServerProcess } from '../../kit/server.ts'

const minutes = 60_000
const days = 24 * 60 * minutes

/** A store whose date a test sets, and what the server takes it for. */
async function openWorld(t: Test) {
  const clock = manualClock()
  const store = { ahead: 0, speed: 1, time: async () => 1e12 + clock.now() * store.speed + store.ahead }
  const steps: number[] = []
  const time = await StoreTime.open({ store, clock, onStep: byMs => steps.push(byMs) })
  t.teardown(() => time.close())
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 2_000) {
      clock.advance(Math.min(left, 2_000))
      // The look is asked of the store.
      await new Promise(setImmediate)
    }
  }
  /** How far it is from the time that passed. */
  const error = () => time.now() - 1e12 - clock.now()
  return { clock, store, steps, time, pass, error }
}

t.test('it is the store’s time, and advances between reads [C3]', async t => {
  const { clock, error, steps, pass } = await openWorld(t)
  clock.advance(1_500)
  t.equal(error(), 0)
  await pass(30 * minutes)
  t.equal(error(), 0)
  t.same(steps, [])
})

t.test('a jump of any size that lasts for seconds changes nothing, and is reported [C1]', async t => {
  const { store, steps, time, pass, error } = await openWorld(t)
  await pass(2 * 60 * minutes)
  t.equal(time.steadyForMs(), 2 * 60 * minutes)
  for (const jump of [181 * days, -181 * days, 2 * 60 * minutes, -2 * 60 * minutes]) {
    store.ahead = jump
    await pass(6_000)
    t.equal(error(), 0)
    t.equal(time.steadyForMs(), 0)
    store.ahead = 0
    await pass(6_000)
    t.equal(error(), 0)
    t.ok(time.steadyForMs() <= 6_000, 'it has to be believed anew')
  }
  t.same(steps, [181 * days, -181 * days, 2 * 60 * minutes, -2 * 60 * minutes])
})

t.test('a new date counts once it has been stable for ten minutes', async t => {
  const { store, pass, error, time } = await openWorld(t)
  store.ahead = 3 * days
  await pass(10 * minutes)
  t.equal(error(), 0)
  await pass(4_000)
  t.equal(error(), 3 * days)
  t.ok(time.steadyForMs() <= 4_000)
})

t.test('a clock that is slightly off is followed without a jump, and one at half speed is not', async t => {
  const { store, pass, error, steps } = await openWorld(t)
  store.ahead = 1_000
  await pass(2_000)
  t.equal(error(), 200)
  await pass(8_000)
  t.equal(error(), 1_000)
  t.same(steps, [])
  store.ahead = 0
  store.speed = 0.5
  await pass(60 * minutes)
  t.ok(Math.abs(error()) < 5_000, `${error()} ms`)
})

t.test('an instance with a wrong clock neither ends nor prolongs a sign-in [C3] [A5]', async t => {
  await cryptoReady()
  const dataDirectory = t.testdir({ one: {}, other: {} })
  const clock = manualClock()
  const began = Date.now()
  const storeNow = () => began + clock.now()
  const store = await openStore('sqlite:shared.db', { dataDirectory, onBroken: reason => t.fail(reason.message), clock: storeNow })
  t.teardown(() => store.close())
  for (const wrong of [200 * days, -200 * days]) {
    const right = await startServer(t, { data: join(dataDirectory, 'one'), store, clock, now: storeNow })
    const skewed = await startServer(t, { data: join(dataDirectory, 'other'), store, clock, now: () => storeNow() + wrong })
    for (const [here, there] of [
      [right, skewed],
      [skewed, right]
    ] as const) {
      const token = await signInFresh(here)
      const ask = async (server: { url: string }) => (await call(server, 'GET', '/v1/sessions', { token })).status
      clock.advance(4_000)
      await new Promise(setImmediate)
      t.same([await ask(here), await ask(there)], [200, 200], `${wrong} ms away`)
      clock.advance(days)
      t.same([await ask(here), await ask(there)], [401, 401], 'and after a day it is over everywhere')
    }
    await right.close()
    await skewed.close()
  }
})

for (const step of [2 * 60 * minutes, -2 * 60 * minutes]) {
  t.test(`a clock changed by ${step} ms for good neither ends nor prolongs a pairing [C1] [A7]`, async t => {
    const clock = manualClock()
    let ahead = 0
    const server = await startServer(t, { clock, now: () => 1e12 + clock.now() + ahead })
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 2_000) {
        clock.advance(Math.min(left, 2_000))
        for (let turn = 0; turn < 2; turn += 1) await call(server, 'GET', '/health')
      }
    }
    const key = () => randomBytes(32).toString('base64')
    const secret = randomBytes(32)
    const hashed = createHash('sha256').update(secret).digest('base64')
    const old = { publicKey: key() }
    const asked = { kind: 'terminal', publicKey: key(), deviceKey: key(), pollHash: hashed }
    ahead = step
    await pass(8 * minutes)
    const { body } = await call(server, 'POST', '/v2/pairings', { body: asked })
    const poll = async () => [
      (await call(server, 'POST', '/v1/auth/request', { body: old })).status,
      (await call(server, 'POST', `/v2/pairings/${body.id}/poll`, { body: { pollSecret: secret.toString('base64') } })).status
    ]
    t.same(await poll(), [200, 200])
    await pass(4 * minutes)
    t.same(await poll(), [200, 200], 'four minutes later, when the new date counts')
    await pass(70_000)
    t.same(await poll(), [410, 410], 'after five minutes it is over')
  })
}

for (const step of [2 * 60 * minutes, -2 * 60 * minutes]) {
  t.test(`a clock changed by ${step} ms for good neither ends nor prolongs a challenge [C1] [A3]`, async t => {
    await cryptoReady()
    const clock = manualClock()
    let ahead = 0
    const server = await startServer(t, { clock, now: () => 1e12 + clock.now() + ahead })
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 2_000) {
        clock.advance(Math.min(left, 2_000))
        for (let turn = 0; turn < 2; turn += 1) await call(server, 'GET', '/health')
      }
    }
    ahead = step
    await pass(10 * minutes - 10_000)
    t.ok(await signInFresh(server, () => pass(40_000)), 'while the new date begins to count')
    ahead = 0
    await pass(10 * minutes - 10_000)
    t.notOk(await signInFresh(server, () => pass(80_000)))
  })
}

t.test('a clock 181 days ahead for 5 s, also at startup, removes no sign-in permanently [C1] [A5]', async t => {
  const data = t.testdir()
  const clock = manualClock()
  const began = Date.now()
  let ahead = 0
  const removed: object[] = []
  const logger = Object.assign(Object.create(null), { isLevelEnabled: () => false, debug() {}, warn() {}, error() {} })
  logger.info = (fields: object, message: string) => message === 'Removing what has expired' && removed.push(fields)
  const start = () => startServer(t, { data, clock, now: () => began + clock.now() + ahead, logger })
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 2_000) {
      clock.advance(Math.min(left, 2_000))
      // Looks and removals ask the store; this request is answered after them.
      await call(server, 'GET', '/health')
    }
  }
  let server = await start()
  const ada = await signUp(t, server)
  await ada.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[a]' } })
  const kept = async () => {
    const ask = async (path: string) => await call(server, 'GET', path, { token: ada.token })
    const [devices, push] = [await ask('/v1/devices'), await ask('/v1/push-tokens')]
    return [devices.status, devices.body.devices?.length, push.body.tokens?.length]
  }
  t.same(await kept(), [200, 1, 1])
  ahead = 181 * days
  await pass(5_000)
  ahead = 0
  await pass(11 * minutes)
  t.same(await kept(), [200, 1, 1], 'while it serves')
  await server.close()

  ahead = 181 * days
  server = await start()
  await pass(5_000)
  ahead = 0
  await pass(11 * minutes)
  t.same(await kept(), [200, 1, 1], 'as it starts')
  t.same(removed, [])

  await server.close()
  ahead = 181 * days
  server = await start()
  await pass(11 * minutes)
  t.equal((await kept())[0], 401)
  t.same(removed, [{ tokens: 1, devices: 1, pushTokens: 1 }], 'a date that stands counts, and the log says what goes')
})

const [faketime] = globSync('/usr/{lib,lib64,lib/*}/faketime/libfaketimeMT.so.1')
const skip = lacks('libfaketime')

/** What a server started with `env` takes for the date of the computer: `ahead` of the true one. */
function fakeDate(directory: string, faketime: string) {
  const file = join(directory, 'date')
  const set = (aheadMs: number) => {
    writeFileSync(`${file}.new`, `${aheadMs < 0 ? '' : '+'}${aheadMs / 1000}`)
    // It is read at any time, and must never be half written.
    renameSync(`${file}.new`, file)
  }
  set(0)
  const env = { FAKETIME_TIMESTAMP_FILE: file, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1', LD_PRELOAD: faketime }
  return { set, env }
}

t.test('a computer 181 days ahead for some seconds ends no sign-in, device or push token [C1] [A5]', { skip }, async t => {
  const data = t.testdir()
  const { set, env } = fakeDate(data, faketime ?? '')
  const server = await startServerProcess(t, { data, args: ['--expo-url', 'off'], env })
  const ada = await signUp(t, server)
  await ada.call('POST', '/v1/push-tokens', { body: { token: 'ExponentPushToken[a]' } })
  const fresh = await signInFresh(server)
  const kept = async () => {
    const [devices, push] = [await ada.call('GET', '/v1/devices'), await ada.call('GET', '/v1/push-tokens')]
    const { status } = await call(server, 'GET', '/v1/sessions', { token: fresh })
    return [status, devices.status, devices.body.devices?.length, push.body.tokens?.length]
  }
  t.same(await kept(), [200, 200, 1, 1])
  await noticed(server, () => set(181 * days))
  t.same(await kept(), [200, 200, 1, 1])
  set(0)
  t.same(await kept(), [200, 200, 1, 1])
})

t.test('a step of two hours in the computer’s date neither ends nor prolongs a waiting pairing [C1] [A7]', { skip }, async t => {
  const directory = t.testdir({ ahead: {}, behind: {} })
  const wait = async (name: string, stepMs: number) => {
    const data = join(directory, name)
    const first = await startServer(t, { data })
    const secret = randomBytes(32)
    const key = () => randomBytes(32).toString('base64')
    const old = { publicKey: key() }
    const pollHash = createHash('sha256').update(secret).digest('base64')
    await call(first, 'POST', '/v1/auth/request', { body: old })
    const { body } = await call(first, 'POST', '/v2/pairings', {
      body: { kind: 'terminal', publicKey: key(), deviceKey: key(), pollHash }
    })
    await first.close()
    // So that nobody has to wait for five minutes.
    const endsAt = Date.now() + 14_000
    const database = new Database(join(data, 'afield.db'))
    for (const table of ['pairing', 'pairing_request']) database.prepare(`UPDATE ${table} SET ends_at = ?`).run(endsAt)
    database.close()

    const { set, env } = fakeDate(data, faketime ?? '')
    const server = await startServerProcess(t, { data, env })
    const poll = async () => [
      (await call(server, 'POST', '/v1/auth/request', { body: old })).status,
      (await call(server, 'POST', `/v2/pairings/${body.id}/poll`, { body: { pollSecret: secret.toString('base64') } })).status
    ]
    t.same(await poll(), [200, 200])
    await noticed(server, () => set(stepMs))
    t.same(await poll(), [200, 200], `${name}, it waits on`)
    while ((await poll()).includes(200)) await pause(100)
    t.same(await poll(), [410, 410])
    t.ok(Math.abs(Date.now() - endsAt) < 2_000, `${name}, it is over when it would have been`)
  }
  await Promise.all([wait('ahead', 2 * 60 * minutes), wait('behind', -2 * 60 * minutes)])
})

/** Resolves when the server has noticed a step of its clock. */
async function noticed({ child }: Awaited<ReturnType<typeof startServerProcess>>, step: () => void): Promise<void> {
  let said = ''
  const isNoticed = new Promise<void>(resolve => {
    child.stderr?.on('data', text => {
      said += text
      if (said.includes('The clock was changed')) resolve()
    })
  })
  step()
  await isNoticed
}

/** The token of a device that renews it, good for a day. */
async function signInFresh(server: { url: string }, meanwhile = async () => {}): Promise<string> {
  const { nonce, serverKeyId } = (await call(server, 'GET', '/v2/auth/nonce')).body
  await meanwhile()
  const [account, device] = [signingKeypair(randomBytes(32)), signingKeypair(randomBytes(32))]
  const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
  const said = { serverKeyId: bytesOf(serverKeyId), origin: server.url, nonce: bytesOf(nonce), deviceKey: device.publicKey }
  const signature = toBase64(signForServer(account.secretKey, { ...said, purpose: 'sign-in' }))
  const keys = { publicKey: toBase64(account.publicKey), deviceKey: toBase64(device.publicKey) }
  const { body } = await call(server, 'POST', '/v2/auth', { body: { purpose: 'sign-in', ...keys, origin: server.url, nonce, signature } })
  return body.token
}
