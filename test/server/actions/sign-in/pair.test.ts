import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { manualClock } from '../../../kit/manual-clock.ts'
import { call, Person, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

const requested = { status: 200, body: { state: 'requested' } }
const over = { status: 410, body: { error: 'Request has expired' } }
const success = { status: 200, body: { success: true } }
const answeredBefore = { status: 409, body: { error: 'Request was already answered' } }

const newKey = () => randomBytes(32).toString('base64')
const minutes = 60_000

for (const [kind, path] of [
  ['terminal', '/v1/auth'],
  ['device', '/v1/auth/account']
] as const) {
  t.test(`a ${kind} polls until answered, and gets the answer and a token once [A7]`, async t => {
    const server = await startServer(t)
    const ada = await signUp(t, server)
    const publicKey = newKey()
    const poll = () => call(server, 'POST', `${path}/request`, { body: { publicKey } })

    t.same(await poll(), requested)
    t.same(await poll(), requested)
    t.same(await ada.call('POST', `${path}/response`, { body: { publicKey, response: 'c2VhbGVk' } }), success)

    const { status, body } = await poll()
    t.equal(status, 200)
    t.same(Object.keys(body).toSorted(), ['response', 'state', 'token'])
    t.equal(body.state, 'authorized')
    t.equal(body.response, 'c2VhbGVk')
    const paired = new Person(t, server, ada.secret, body.token)
    t.equal(paired.id, ada.id)
    t.equal((await paired.call('GET', '/v1/sessions')).status, 200)
    t.match(body.token, new RegExp(`^afield1-${kind}\\.`))

    t.same(await poll(), over)
    t.same(await poll(), over)
  })

  t.test(`of many simultaneous polls of a ${kind}, one gets the answer [A7]`, async t => {
    const server = await startServer(t)
    const ada = await signUp(t, server)
    const publicKey = newKey()
    const poll = () => call(server, 'POST', `${path}/request`, { body: { publicKey } })
    await poll()
    await ada.call('POST', `${path}/response`, { body: { publicKey, response: 'x' } })
    const answers = await Promise.all(Array.from({ length: 10 }, poll))
    t.equal(answers.filter(({ status }) => status === 200).length, 1)
    t.equal(answers.filter(({ status }) => status === 410).length, 9)
  })

  t.test(`the first answer to a ${kind} counts; its sender can repeat it, later ones are rejected [A7]`, async t => {
    const server = await startServer(t)
    const ada = await signUp(t, server)
    const grace = await signUp(t, server)
    const publicKey = newKey()
    await call(server, 'POST', `${path}/request`, { body: { publicKey } })
    const answer = (person: Person, response: string) => person.call('POST', `${path}/response`, { body: { publicKey, response } })

    t.same(await answer(ada, 'first'), success)
    t.same(await answer(ada, 'first'), success)
    t.same(await answer(ada, 'second'), answeredBefore)
    t.same(await answer(grace, 'first'), answeredBefore)

    const delivered = await call(server, 'POST', `${path}/request`, { body: { publicKey } })
    t.equal(delivered.body.response, 'first')
    t.same(await answer(ada, 'first'), success)
    t.same(await answer(grace, 'other'), answeredBefore)
  })

  t.test(`a ${kind}’s request expires after five minutes, answered or not [A7]`, async t => {
    const clock = manualClock()
    const server = await startServer(t, { clock, now: () => 1_700_000_000_000 + clock.now() })
    const ada = await signUp(t, server)
    const [asked, answered] = [newKey(), newKey()]
    const poll = (publicKey: string) => call(server, 'POST', `${path}/request`, { body: { publicKey } })
    const answer = (publicKey: string) => ada.call('POST', `${path}/response`, { body: { publicKey, response: 'x' } })
    await poll(asked)
    await poll(answered)
    t.same(await answer(answered), success)
    clock.advance(5 * minutes - 1)
    t.same(await poll(asked), requested)
    clock.advance(1)
    t.same(await poll(asked), over)
    t.same(await poll(answered), over)
    t.same(await answer(asked), { status: 404, body: { error: 'Request not found' } })
  })

  t.test(`a ${kind}’s key of another length is rejected, on both sides`, async t => {
    const server = await startServer(t)
    const ada = await signUp(t, server)
    const refused = { status: 401, body: { error: 'Invalid public key' } }
    for (const publicKey of ['', 'AAAA', randomBytes(31).toString('base64'), randomBytes(33).toString('base64'), 'no base64!']) {
      t.same(await call(server, 'POST', `${path}/request`, { body: { publicKey } }), refused)
      t.same(await ada.call('POST', `${path}/response`, { body: { publicKey, response: 'x' } }), refused)
    }
  })

  t.test(`a ${kind}’s key is accepted in either base64 alphabet`, async t => {
    const server = await startServer(t)
    const ada = await signUp(t, server)
    const publicKey = Buffer.alloc(32, 0xfb).toString('base64')
    const urlSafe = Buffer.alloc(32, 0xfb).toString('base64url')
    t.not(publicKey, urlSafe)
    await call(server, 'POST', `${path}/request`, { body: { publicKey } })
    t.same(await ada.call('POST', `${path}/response`, { body: { publicKey: urlSafe, response: 'x' } }), success)
    t.equal((await call(server, 'POST', `${path}/request`, { body: { publicKey: urlSafe } })).body.state, 'authorized')
  })

  t.test(`an answer to an unknown ${kind} changes nothing`, async t => {
    const server = await startServer(t)
    const ada = await signUp(t, server)
    const publicKey = newKey()
    const answer = await ada.call('POST', `${path}/response`, { body: { publicKey, response: 'x' } })
    t.same(answer, { status: 404, body: { error: 'Request not found' } })
    t.same(await call(server, 'POST', `${path}/request`, { body: { publicKey } }), requested)
  })
}

t.test('terminals and devices do not get each other’s answers', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const publicKey = newKey()
  await call(server, 'POST', '/v1/auth/request', { body: { publicKey } })
  await call(server, 'POST', '/v1/auth/account/request', { body: { publicKey } })
  await ada.call('POST', '/v1/auth/account/response', { body: { publicKey, response: 'the account secret' } })
  t.same(await call(server, 'POST', '/v1/auth/request', { body: { publicKey } }), requested)
})

t.test('anyone can read the status of a request, always with 200', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock, now: () => 1_700_000_000_000 + clock.now() })
  const ada = await signUp(t, server)
  const status = async (publicKey: string) => {
    const answer = await call(server, 'GET', `/v1/auth/request/status?publicKey=${encodeURIComponent(publicKey)}`)
    t.equal(answer.status, 200)
    return answer.body
  }
  const publicKey = newKey()
  const notFound = { status: 'not_found', supportsV2: false }
  const authorized = { status: 'authorized', supportsV2: false }
  for (const malformed of ['', 'x', 'no base64!', randomBytes(31).toString('base64')]) t.same(await status(malformed), notFound)
  t.same((await call(server, 'GET', '/v1/auth/request/status')).body, notFound)
  t.same(await status(publicKey), notFound)

  await call(server, 'POST', '/v1/auth/request', { body: { publicKey, supportsV2: true } })
  t.same(await status(publicKey), { status: 'pending', supportsV2: true })
  await call(server, 'POST', '/v1/auth/request', { body: { publicKey, supportsV2: false } })
  t.same(await status(publicKey), { status: 'pending', supportsV2: true }, 'a repeat changes nothing')
  await ada.call('POST', '/v1/auth/response', { body: { publicKey, response: 'x' } })
  t.same(await status(publicKey), authorized)
  await call(server, 'POST', '/v1/auth/request', { body: { publicKey } })
  t.same(await status(publicKey), authorized, 'delivered')

  const old = newKey()
  await call(server, 'POST', '/v1/auth/request', { body: { publicKey: old, supportsV2: null } })
  t.same(await status(old), { status: 'pending', supportsV2: false })
  clock.advance(5 * minutes)
  t.same(await status(old), notFound)
})

t.test('another network sees only the status, without token or answer [A7]', async t => {
  const server = await startServer(t, { trustProxy: 'loopback' })
  const ada = await signUp(t, server)
  const publicKey = newKey()
  const elsewhere = { headers: { 'x-forwarded-for': '203.0.113.7' } }
  const status = async () =>
    (await call(server, 'GET', `/v1/auth/request/status?publicKey=${encodeURIComponent(publicKey)}`, elsewhere)).body
  await call(server, 'POST', '/v1/auth/request', { body: { publicKey, supportsV2: true } })
  t.same(await status(), { status: 'pending', supportsV2: true }, 'so that the phone knows how to answer')
  await ada.call('POST', '/v1/auth/response', { body: { publicKey, response: 'x' } })
  t.same(await status(), { status: 'authorized', supportsV2: false }, 'so that it does not answer a second time')
  t.same(await call(server, 'POST', '/v1/auth/request', { body: { publicKey, supportsV2: true }, ...elsewhere }), requested)
})

t.test("the status of a device's request is not public", async t => {
  const server = await startServer(t)
  const publicKey = newKey()
  await call(server, 'POST', '/v1/auth/account/request', { body: { publicKey } })
  const { body } = await call(server, 'GET', `/v1/auth/request/status?publicKey=${encodeURIComponent(publicKey)}`)
  t.same(body, { status: 'not_found', supportsV2: false })
})

t.test('a delivered answer is not delivered again after a restart [A7]', async t => {
  const data = t.testdir()
  const first = await startServer(t, { data })
  const ada = await signUp(t, first)
  const publicKey = newKey()
  await call(first, 'POST', '/v1/auth/request', { body: { publicKey } })
  await ada.call('POST', '/v1/auth/response', { body: { publicKey, response: 'x' } })
  t.equal((await call(first, 'POST', '/v1/auth/request', { body: { publicKey } })).status, 200)
  await first.close()
  const second = await startServer(t, { data })
  t.same(await call(second, 'POST', '/v1/auth/request', { body: { publicKey } }), over)
})

t.test('a server can reject programs that ask for the account key, or all that pair without a check code', async t => {
  const folder = t.testdir()
  const outcomes = async (legacyPairing: 'on' | 'no-keys' | 'off') => {
    const server = await startServer(t, { legacyPairing, data: join(folder, legacyPairing) })
    const ask = async (path: string, body: object) => (await call(server, 'POST', path, { body: { publicKey: newKey(), ...body } })).status
    return {
      old: await ask('/v1/auth/request', {}),
      newer: await ask('/v1/auth/request', { supportsV2: true }),
      device: await ask('/v1/auth/account/request', {})
    }
  }
  t.same(await outcomes('on'), { old: 200, newer: 200, device: 200 })
  t.same(await outcomes('no-keys'), { old: 403, newer: 200, device: 200 })
  t.same(await outcomes('off'), { old: 403, newer: 403, device: 403 })
})
