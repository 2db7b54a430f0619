import { randomBytes } from 'node:crypto'
import t from 'tap'
import { cryptoReady, type ForServer, signChallenge, signForServer, signingKeypair, toBase64 } from '../../../../lib/crypto/index.ts'
import type { AccountId } from '../../../../lib/protocol/wire/ids.ts'
import { openStore } from '../../../../lib/store/open.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { call, signUp, type Untyped } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

await cryptoReady()

type Server = { url: string }
interface Phone {
  account: ReturnType<typeof signingKeypair>
  device: ReturnType<typeof signingKeypair>
}

const newKeys = () => signingKeypair(randomBytes(32))
const newPhone = (): Phone => ({ account: newKeys(), device: newKeys() })
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
const badSignature = { status: 401, body: { error: 'Invalid signature' } }
const badNonce = { status: 401, body: { error: 'Nonce is too old or was already used' } }
const gone = { status: 401, body: { error: 'Invalid token' } }

async function askNonce(server: Server): Promise<{ nonce: string; serverKeyId: string }> {
  return (await call(server, 'GET', '/v2/auth/nonce')).body
}

/** What a client sends; `signed` says what it signed in place of the truth. */
async function signInWith(server: Server, { account, device }: Phone, signed: Partial<ForServer> & { nonceText?: string } = {}) {
  const { nonce, serverKeyId } = await askNonce(server)
  const said: ForServer = {
    serverKeyId: bytesOf(serverKeyId),
    origin: server.url,
    nonce: bytesOf(signed.nonceText ?? nonce),
    deviceKey: device.publicKey,
    purpose: 'sign-in',
    ...signed
  }
  return {
    purpose: 'sign-in',
    publicKey: toBase64(account.publicKey),
    deviceKey: toBase64(device.publicKey),
    origin: server.url,
    nonce: signed.nonceText ?? nonce,
    signature: toBase64(signForServer(account.secretKey, said))
  }
}

async function renewWith(server: Server, { device }: Phone, account: string, by = device) {
  const { nonce, serverKeyId } = await askNonce(server)
  const said: ForServer = {
    serverKeyId: bytesOf(serverKeyId),
    origin: server.url,
    nonce: bytesOf(nonce),
    deviceKey: device.publicKey,
    purpose: 'renew'
  }
  const signature = toBase64(signForServer(by.secretKey, said))
  return { purpose: 'renew', account, deviceKey: toBase64(device.publicKey), origin: server.url, nonce, signature }
}

const post = (server: Server, body: unknown) => call(server, 'POST', '/v2/auth', { body })
const use = (server: Server, token: string) => call(server, 'GET', '/v1/sessions', { token })

t.test('a device signs in with a server nonce, and gets the same account as legacy sign-in', async t => {
  const server = await startServer(t)
  const secret = randomBytes(32)
  const ada = await signUp(t, server, secret)
  const phone = { account: signingKeypair(secret), device: newKeys() }
  const { status, body } = await post(server, { ...(await signInWith(server, phone)), deviceName: 'my phone' })
  t.equal(status, 200)
  t.same(Object.keys(body).toSorted(), ['account', 'device', 'expiresInMs', 'token'])
  t.equal(body.account, ada.id)
  t.equal(body.expiresInMs, 24 * 60 * 60_000)
  t.equal((await use(server, body.token)).status, 200)
  const { devices } = (await ada.call('GET', '/v1/devices')).body
  t.match(
    devices.find(({ id }: Untyped) => id === body.device),
    { name: 'my phone', renews: true, kind: 'account' }
  )
  await post(server, await signInWith(server, phone))
  t.equal((await ada.call('GET', '/v1/devices')).body.devices.length, 2, 'the same key is the same device')
})

t.test('a nonce is valid once, for a minute, and only if this server issued it [A3]', async t => {
  const clock = manualClock()
  const began = Date.now()
  const server = await startServer(t, { clock, now: () => began + clock.now() })
  const other = await startServer(t, { data: t.testdir({ other: {} }), now: () => began + clock.now() })
  const phone = newPhone()
  const once = await signInWith(server, phone)
  const both = await Promise.all([post(server, once), post(server, once)])
  t.same(both.map(({ status }) => status).sort(), [200, 401])
  t.same(await post(server, once), badSignature)

  const fresh = await signInWith(server, phone)
  clock.advance(59_000)
  t.equal((await post(server, fresh)).status, 200)
  const late = await signInWith(server, phone)
  clock.advance(66_000)
  t.same(await post(server, late), badNonce)

  const { nonce: foreign } = await askNonce(other)
  t.same(await post(server, await signInWith(server, phone, { nonceText: foreign })), badNonce)
  const changed = Buffer.from((await askNonce(server)).nonce, 'base64')
  changed[31] = (changed[31] ?? 0) ^ 1
  t.same(await post(server, await signInWith(server, phone, { nonceText: changed.toString('base64') })), badNonce)
})

t.test('a nonce cannot be reused after a restart [A3]', async t => {
  const data = t.testdir()
  const first = await startServer(t, { data })
  const phone = newPhone()
  const body = await signInWith(first, phone)
  t.equal((await post(first, body)).status, 200)
  const { serverKeyId } = await askNonce(first)
  await first.close()
  const second = await startServer(t, { data })
  t.equal((await askNonce(second)).serverKeyId, serverKeyId, 'it is the same server')
  t.same(await post(second, body), badSignature)
})

t.test('a signature is valid only for one server, origin, device and purpose [A3]', async t => {
  const server = await startServer(t, { publicUrl: 'https://home.example' })
  const other = await startServer(t, { data: t.testdir({ other: {} }) })
  const phone = newPhone()
  const { serverKeyId } = await askNonce(other)
  for (const signed of [
    { serverKeyId: bytesOf(serverKeyId) },
    { origin: 'https://evil.example' },
    { deviceKey: newKeys().publicKey },
    { purpose: 'renew' as const },
    { purpose: 'delete-account' as const }
  ])
    t.same(await post(server, await signInWith(server, phone, signed)), badSignature, JSON.stringify(signed))

  const evil = 'https://evil.example'
  const relayed = { ...(await signInWith(server, phone, { origin: evil })), origin: evil }
  t.same(await post(server, relayed), { status: 403, body: { error: 'This server is not known under that origin' } })
  const home = 'https://home.example'
  t.equal((await post(server, { ...(await signInWith(server, phone, { origin: home })), origin: home })).status, 200)
})

t.test('a signature for one purpose is never accepted for the other [A3]', async t => {
  const server = await startServer(t)
  const secret = randomBytes(32)
  const phone = { account: signingKeypair(secret), device: newKeys() }
  const body = await signInWith(server, phone)
  const legacy = { publicKey: body.publicKey, challenge: body.nonce, signature: body.signature }
  t.same(await call(server, 'POST', '/v1/auth', { body: legacy }), badSignature)
  const { signature } = signChallenge(secret, bytesOf(body.nonce))
  t.same(await post(server, { ...body, signature: toBase64(signature) }), badSignature)
})

t.test('a renewed token replaces the previous one after a minute, and its sockets close with it [A5]', async t => {
  const clock = manualClock()
  const began = Date.now()
  const server = await startServer(t, { clock, now: () => began + clock.now() })
  const phone = newPhone()
  const { body: old } = await post(server, await signInWith(server, phone))
  clock.advance(3600_000)
  const { status, body: renewed } = await post(server, await renewWith(server, phone, old.account))
  t.equal(status, 200)
  t.match(renewed, { account: old.account, device: old.device })
  clock.advance(59_999)
  t.equal((await use(server, old.token)).status, 200)
  clock.advance(1)
  await new Promise(done => setImmediate(done))
  clock.advance(2_000)
  await new Promise(done => setImmediate(done))
  t.same(await use(server, old.token), gone)
  t.equal((await use(server, renewed.token)).status, 200)
})

t.test('two tabs that renew at the same time both keep working [A5]', async t => {
  const clock = manualClock()
  const began = Date.now()
  const server = await startServer(t, { clock, now: () => began + clock.now() })
  const phone = newPhone()
  const { body: old } = await post(server, await signInWith(server, phone))
  clock.advance(3600_000)
  const asked = [await renewWith(server, phone, old.account), await renewWith(server, phone, old.account)]
  const tabs = await Promise.all(asked.map(body => post(server, body)))
  clock.advance(120_000)
  await new Promise(done => setImmediate(done))
  for (const { body } of tabs) t.equal((await use(server, body.token)).status, 200)
  t.same(await use(server, old.token), gone)
})

t.test('only the device itself renews, and not after its removal [A4]', async t => {
  const server = await startServer(t)
  const phone = newPhone()
  const { body } = await post(server, await signInWith(server, phone))
  t.same(await post(server, await renewWith(server, phone, body.account, newKeys())), badSignature)
  const unknown = { status: 401, body: { error: 'Device is not signed in' } }
  t.same(await post(server, await renewWith(server, newPhone(), body.account)), unknown)
  t.same(await post(server, await renewWith(server, phone, 'somebody-else')), unknown)
  await call(server, 'DELETE', '/v1/devices/current', { token: body.token })
  t.same(await post(server, await renewWith(server, phone, body.account)), unknown)
})

t.test('a renewal that is sent twice is refused for its nonce, not for its device [A3]', async t => {
  const server = await startServer(t)
  const phone = newPhone()
  const { body } = await post(server, await signInWith(server, phone))
  const renewal = await renewWith(server, phone, body.account)
  t.equal((await post(server, renewal)).status, 200)
  t.same(await post(server, renewal), badNonce)
})

t.test('a token that is not renewed expires after a day', async t => {
  const clock = manualClock()
  const began = Date.now()
  const server = await startServer(t, { clock, now: () => began + clock.now() })
  const { body } = await post(server, await signInWith(server, newPhone()))
  clock.advance(24 * 3600_000 - 1)
  t.equal((await use(server, body.token)).status, 200)
  clock.advance(1)
  t.same(await use(server, body.token), gone)
})

t.test('a device that is not used for half a year has to sign in again, one in use does not', async t => {
  const clock = manualClock()
  const began = Date.now()
  let ahead = 0
  const server = await startServer(t, { clock, now: () => began + ahead + clock.now() })
  // A date counts after ten steady minutes, and what is old by it is removed after ten more.
  const passDays = async (days: number) => {
    ahead += days * 24 * 3600_000
    for (let seconds = 0; seconds < 22 * 60; seconds += 2) {
      clock.advance(2_000)
      await new Promise(done => setImmediate(done))
    }
  }
  const [used, unused] = [newPhone(), newPhone()]
  const { body: first } = await post(server, await signInWith(server, used))
  const { body: other } = await post(server, await signInWith(server, unused))
  await passDays(179)
  const { status, body: renewed } = await post(server, await renewWith(server, used, first.account))
  t.equal(status, 200)
  t.equal((await use(server, renewed.token)).status, 200)
  await passDays(2)
  t.equal((await post(server, await renewWith(server, used, first.account))).status, 200)
  const answer = await post(server, await renewWith(server, unused, other.account))
  t.same(answer, { status: 401, body: { error: 'Device is not signed in' } })
})

t.test('an account can disable legacy sign-in, or enable it again', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const set = (legacyLogin: string) => ada.call('PUT', '/v1/account/legacy-login', { body: { legacyLogin } })
  const read = async () => (await ada.call('GET', '/v1/account/legacy-login')).body.legacyLogin
  t.equal(await read(), 'on')
  await set('once')
  await signUp(t, server, ada.secret)
  t.equal(await read(), 'off')
  await t.rejects(signUp(t, server, ada.secret), /403 .*Legacy sign-in is disabled/)
  const phone = { account: signingKeypair(ada.secret), device: newKeys() }
  t.equal((await post(server, await signInWith(server, phone))).status, 200, 'the second kind goes on')
  await set('on')
  await signUp(t, server, ada.secret)
})

t.test('for a day after a restore, challenges used before it are rejected [A1]', async t => {
  const data = t.testdir()
  const deps = { dataDirectory: data, onBroken: (reason: unknown) => t.fail(String(reason)) }
  const store = await openStore(`sqlite:${data}/kept.db`, deps)
  t.teardown(() => store.close())
  const server = await startServer(t, { data, store })
  const ada = await signUp(t, server)
  await store.holdLegacyLogins(Date.now() + 24 * 3600_000)
  await t.rejects(signUp(t, server, ada.secret), /403 .*restored from a backup/)
  const phone = { account: signingKeypair(ada.secret), device: newKeys() }
  t.equal((await post(server, await signInWith(server, phone))).status, 200)
  t.equal(await store.setLegacyLogin('nobody' as AccountId, 'on'), 'missing')
})
