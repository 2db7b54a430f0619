import { randomBytes } from 'node:crypto'
import { io } from 'socket.io-client'
import t, { type Test } from 'tap'
import { cryptoReady, engine, signForServer, signingKeypair, toBase64 } from '../../../lib/crypto/index.ts'
import { limits, mostSockets } from '../../../lib/server/limits.ts'
import { type ManualClock, manualClock } from '../../kit/manual-clock.ts'
import { call, signInBody, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { openAccepted } from '../raw-websocket.ts'

/** A server with its limits on, whose time moves by hand alone. */
async function startLimited(t: Test, options: object = {}): Promise<{ url: string; port: number; clock: ManualClock }> {
  const clock = manualClock()
  const server = await startServer(t, { limits: 'default', clock, now: () => 1e12 + clock.now(), ...options })
  return { url: server.url, port: server.port, clock }
}

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const badLogin = { publicKey: 'A', challenge: 'A', signature: 'A' }
const pairingKey = () => randomBytes(32).toString('base64')

/** How many of so many logins are looked at, each with the headers it is given. */
async function loginsLookedAt(server: { url: string }, count: number, headers: (index: number) => Record<string, string>): Promise<number> {
  let looked = 0
  for (let index = 0; index < count; index += 1) {
    const { status } = await call(server, 'POST', '/v1/auth', { body: badLogin, headers: headers(index) })
    if (status === 401) looked += 1
    else if (status !== 429) throw new Error(`A login was answered with ${status}`)
  }
  return looked
}

/** What a client of ours sends to sign in, over a nonce of the server. */
async function freshSignInBody(server: { url: string }, secret: Uint8Array) {
  const { nonce, serverKeyId } = (await call(server, 'GET', '/v2/auth/nonce')).body
  const [account, device] = [signingKeypair(secret), signingKeypair(randomBytes(32))]
  const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64'))
  const said = { serverKeyId: bytesOf(serverKeyId), origin: server.url, nonce: bytesOf(nonce), deviceKey: device.publicKey }
  const signature = toBase64(signForServer(account.secretKey, { ...said, purpose: 'sign-in' }))
  const keys = { publicKey: toBase64(account.publicKey), deviceKey: toBase64(device.publicKey) }
  return { purpose: 'sign-in', ...keys, origin: server.url, nonce, signature }
}

t.before(() => cryptoReady())

t.test('logins from one address are limited before the signature is verified, and the answer says how long [Q1, Q5]', async t => {
  const server = await startLimited(t)
  t.equal(await loginsLookedAt(server, 25, () => ({})), limits.login.burst)
  const answer = await fetch(`${server.url}/v1/auth`, { method: 'POST', body: JSON.stringify(await signInBody(engine.randomBytes(32))) })
  t.same([answer.status, answer.headers.get('retry-after')], [429, '6'])
  t.same(await answer.json(), { error: 'Too many requests' })
  server.clock.advance(6_000)
  t.equal(await loginsLookedAt(server, 2, () => ({})), 1)
})

// Each login says another thing of itself; `looked` is how many are looked at, of 25.
const spoofs: [title: string, option: string | undefined, headers: (index: number) => Record<string, string>, looked: number][] = [
  ['nobody is trusted', undefined, index => ({ 'x-forwarded-for': `192.0.2.${index}` }), 20],
  ['somebody else is trusted', '10.0.0.0/8', index => ({ 'x-forwarded-for': `192.0.2.${index}` }), 20],
  ['the proxy names another address each time', 'loopback', index => ({ 'x-forwarded-for': `192.0.2.${index}` }), 25],
  ['the client writes what the proxy extends', 'loopback', index => ({ 'x-forwarded-for': `192.0.2.${index}, 198.51.100.1` }), 20],
  ['a second proxy of ours is passed over', 'loopback,10.0.0.0/8', index => ({ 'x-forwarded-for': `192.0.2.${index}, 10.0.0.9` }), 25],
  ['what stands before an unreadable hop', 'loopback', index => ({ 'x-forwarded-for': `192.0.2.${index}, unknown` }), 20],
  ['the standard header of the proxy', 'loopback', index => ({ forwarded: `for="192.0.2.${index}:80";proto=https` }), 25],
  ['the standard header, extended', 'loopback', index => ({ forwarded: `for=192.0.2.${index}, for=198.51.100.1` }), 20],
  [
    'two headers that disagree, one of them the client’s',
    'loopback',
    index => ({ 'x-forwarded-for': `192.0.2.${index}`, forwarded: 'for=198.51.100.1' }),
    20
  ],
  ['addresses of one IPv6 /64', 'loopback', index => ({ 'x-forwarded-for': `2001:db8::${index}` }), 20],
  ['addresses of many IPv6 /64', 'loopback', index => ({ 'x-forwarded-for': `2001:db8:0:${index}::1` }), 25]
]
for (const [title, trustProxy, headers, looked] of spoofs) {
  t.test(`${title}: ${looked} of 25 logins are processed [Q1]`, async t => {
    const server = await startLimited(t, trustProxy === undefined ? {} : { trustProxy })
    t.equal(await loginsLookedAt(server, 25, headers), looked)
  })
}

t.test('a header split into two lines counts as one: a proxy may add its own below the client’s [Q1]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const { request } = await import('node:http')
  const login = (index: number) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'x-forwarded-for': [`192.0.2.${index}`, '198.51.100.1'] }
      request(`${server.url}/v1/auth`, { method: 'POST', headers }, answer => resolve(answer.resume().statusCode))
        .once('error', reject)
        .end(JSON.stringify(badLogin))
    })
  const statuses = []
  for (let index = 0; index < 25; index += 1) statuses.push(await login(index))
  t.equal(statuses.filter(status => status === 401).length, 20)
})

t.test('new keys from one address are limited, while existing accounts can still sign in [Q1, A9]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const owner = await signUp(t, server)
  const enter = async (address: string, secret: Uint8Array = engine.randomBytes(32)) =>
    call(server, 'POST', '/v1/auth', { body: await signInBody(secret), ...from(address) })
  const statuses = []
  for (let time = 0; time < 4; time += 1) statuses.push((await enter('192.0.2.7')).status)
  t.same(statuses, [200, 200, 200, 429])
  t.equal((await enter('192.0.2.7', owner.secret)).status, 200)
  t.equal((await enter('192.0.2.8')).status, 200)
  server.clock.advance(3_600_000)
  t.equal((await enter('192.0.2.7')).status, 200)
})

t.test('sign-ins per key are limited, and bad signatures for a key do not lock it out [Q1]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const ada = await signUp(t, server)
  const good = await signInBody(ada.secret)
  for (let time = 0; time < 15; time += 1) {
    const body = { ...good, signature: Buffer.alloc(64, time).toString('base64') }
    t.equal((await call(server, 'POST', '/v1/auth', { body, ...from(`192.0.2.${time}`) })).status, 401)
  }
  const statuses = []
  for (let time = 0; time < 10; time += 1) {
    const body = await signInBody(ada.secret)
    statuses.push((await call(server, 'POST', '/v1/auth', { body, ...from(`198.51.100.${time}`) })).status)
  }
  t.same(statuses, [...Array(9).fill(200), 429], 'its sign-up was the first')
})

t.test('replaying a captured sign-in uses none of its owner’s limit, for either kind [Q1, A1]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const ada = await signUp(t, server)
  const captured = await signInBody(ada.secret)
  t.equal((await call(server, 'POST', '/v1/auth', { body: captured })).status, 200)
  const fresh = await freshSignInBody(server, ada.secret)
  t.equal((await call(server, 'POST', '/v2/auth', { body: fresh })).status, 200)
  for (let time = 0; time < 40; time += 1) {
    const [path, body] = time % 2 === 0 ? ['/v1/auth', captured] : ['/v2/auth', fresh]
    t.equal((await call(server, 'POST', path, { body, ...from(`192.0.2.${time}`) })).status, 401)
  }
  t.equal((await call(server, 'POST', '/v1/auth', { body: await signInBody(ada.secret) })).status, 200)
  const renewed = await freshSignInBody(server, ada.secret)
  t.equal((await call(server, 'POST', '/v2/auth', { body: renewed })).status, 200)
})

t.test('a request rejected by one limit does not count for another [Q1]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const burst = Math.ceil(limits.everyLogin.burst / limits.login.burst)
  for (let address = 0; address < burst; address += 1)
    t.equal(await loginsLookedAt(server, limits.login.burst, () => from(`192.0.2.${address}`).headers), 20)
  t.equal(await loginsLookedAt(server, 30, () => from('198.51.100.1').headers), 0, 'the server has enough')
  server.clock.advance(1_000)
  t.equal(await loginsLookedAt(server, 25, () => from('198.51.100.1').headers), 20)
})

t.test('a flood of sign-ins leaves known networks their own share [Q1]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const ada = await signUp(t, server)
  t.equal((await ada.call('GET', '/v1/sessions', from('203.0.113.9'))).status, 200)
  const burst = Math.ceil(limits.everyLogin.burst / limits.login.burst)
  for (let address = 0; address < burst; address += 1)
    await loginsLookedAt(server, limits.login.burst, () => from(`192.0.2.${address}`).headers)
  t.equal(await loginsLookedAt(server, 1, () => from('198.51.100.1').headers), 0, 'the crowd has used what is for strangers')
  const body = await signInBody(ada.secret)
  t.equal((await call(server, 'POST', '/v1/auth', { body, ...from('203.0.113.9') })).status, 200)
})

t.test('attempts to remove an account without its key are limited for their own network only [Q1]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const [ada, grace] = [await signUp(t, server), await signUp(t, server)]
  const claim = { publicKey: pairingKey(), deviceKey: pairingKey(), nonce: pairingKey(), signature: Buffer.alloc(64).toString('base64') }
  const remove = async (person: typeof ada, address: string) =>
    (await person.call('POST', '/v1/account/removal', { body: { ...claim, origin: server.url }, ...from(address) })).status
  const statuses = new Set<number>()
  for (let time = 0; time < limits.login.burst; time += 1) statuses.add(await remove(ada, '192.0.2.7'))
  t.notOk(statuses.has(429))
  t.equal(await remove(ada, '192.0.2.7'), 429)
  t.not(await remove(grace, '198.51.100.7'), 429)
})

t.test('new pairings are limited, and polls of a waiting one never are [Q1, A7]', async t => {
  const server = await startLimited(t)
  const ask = (publicKey: string) => call(server, 'POST', '/v1/auth/request', { body: { publicKey } })
  const first = pairingKey()
  t.equal((await ask(first)).status, 200)
  const others = []
  for (let time = 0; time < 5; time += 1) others.push((await ask(pairingKey())).status)
  t.same(others, [200, 200, 200, 200, 429])
  for (let time = 0; time < 300; time += 1) {
    const { status, body } = await ask(first)
    if (status !== 200 || body.state !== 'requested') t.fail(`poll ${time} was answered with ${status}`)
  }
})

t.test('waiting pairings are limited per network, and only time makes room [A7, Q2]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const ask = (address: string) => call(server, 'POST', '/v1/auth/request', { body: { publicKey: pairingKey() }, ...from(address) })
  const statuses = []
  for (let host = 1; host <= 9; host += 1) statuses.push((await ask(`192.0.2.${host}`)).status)
  t.same(statuses, [...Array(8).fill(200), 429])
  t.equal((await ask('198.51.100.1')).status, 200)
  server.clock.advance(5 * 60_000)
  t.equal((await ask('192.0.2.10')).status, 200)
})

t.test('a flood of pairings from many networks shuts out nobody else [A7, Q2]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const asks = {
    '/v1/auth/request': () => ({ publicKey: pairingKey() }),
    '/v2/pairings': () => ({ kind: 'terminal', publicKey: pairingKey(), deviceKey: pairingKey(), pollHash: pairingKey() })
  }
  for (const [path, body] of Object.entries(asks)) {
    const ask = async (address: string, given = body()) => (await call(server, 'POST', path, { body: given, ...from(address) })).status
    for (let network = 0; network < 126; network += 1) {
      // Of which each address may begin five.
      const hosts = [1, 1, 1, 1, 2, 2, 2, 2].map(host => ask(`10.${network}.${path.length}.${host}`))
      t.same(new Set(await Promise.all(hosts)), new Set([200]))
    }
    const own = body()
    t.equal(await ask('192.0.2.1', own), 200)
    if (path !== '/v1/auth/request') continue
    for (let network = 0; network < 20; network += 1) await ask(`10.${network}.${path.length}.3`)
    t.equal(await ask('192.0.2.1', own), 200, 'its request still waits')
  }
})

t.test('requests are limited per account without affecting others, and allowed again with time [Q1]', async t => {
  const server = await startLimited(t)
  const [ada, bob] = [await signUp(t, server), await signUp(t, server)]
  const ask = (person: typeof ada) => person.call('GET', '/v1/account/settings').then(({ status }) => status)
  const statuses = await Promise.all(Array.from({ length: limits.api.burst + 20 }, () => ask(ada)))
  t.equal(statuses.filter(status => status === 429).length, 20)
  t.equal(await ask(bob), 200)
  server.clock.advance(1_000)
  const later = await Promise.all(Array.from({ length: 60 }, () => ask(ada)))
  t.equal(later.filter(status => status === 200).length, limits.api.perSecond)
})

t.test('messages count by their bytes, posted and read, and not by requests [Q1]', async t => {
  const server = await startLimited(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const small = await Promise.all(Array.from({ length: 700 }, (_, number) => ada.send(session, { localId: `${number}` })))
  t.ok(small.every(({ status }) => status === 200))
  const large = 'x'.repeat(24 * 1024 * 1024)
  const statuses = []
  for (let time = 0; time < 4; time += 1) statuses.push((await ada.send(session, { localId: `large ${time}`, content: large })).status)
  t.same(statuses, [200, 200, 200, 429])
  t.equal((await ada.call('GET', `/v3/sessions/${session}/messages?limit=1`)).status, 429, 'reads share it')
  t.equal((await ada.call('GET', '/v1/account/settings')).status, 200)
  server.clock.advance(10_000)
  t.equal((await ada.call('GET', `/v3/sessions/${session}/messages?limit=1`)).status, 200)
})

t.test('lookups of invalid tokens are limited per address, and a valid token passes [Q1]', async t => {
  const server = await startLimited(t)
  const ada = await signUp(t, server)
  const dead = 'afield1-account.e30=.nothing'
  const ask = (token: string) => call(server, 'GET', '/v1/account/settings', { token }).then(({ status }) => status)
  const statuses = []
  for (let time = 0; time < 32; time += 1) statuses.push(await ask(dead))
  t.same([statuses.filter(status => status === 401).length, statuses.slice(30)], [30, [429, 429]])
  t.equal(await ask(ada.token), 200)
  t.equal(await ask('afield1-account.e30=.another'), 401, 'another token is another matter')
  server.clock.advance(2_000)
  t.equal(await ask(dead), 401)
})

t.test('sockets are limited per account, and a new one fits once another has closed [Q2]', async t => {
  const server = await startLimited(t, { trustProxy: 'loopback' })
  const ada = await signUp(t, server)
  const [first] = await Promise.all(Array.from({ length: mostSockets }, () => openAccepted(t, server, { token: ada.token })))
  t.equal(await endOf(t, server, ada.token), 'transport close', 'of one account, whatever the address')

  first?.send('1')
  await first?.ended()
  t.ok(await openAccepted(t, server, { token: ada.token }))
})

/** What becomes of a socket from another address. */
async function endOf(t: Test, server: { url: string }, token: string): Promise<string> {
  const options = { path: '/v1/updates', transports: ['websocket'], auth: { token }, reconnection: false, forceNew: true }
  const socket = io(server.url, { ...options, extraHeaders: { 'x-forwarded-for': '192.0.2.1' } })
  t.teardown(() => socket.disconnect())
  return new Promise(resolve => {
    socket.once('connect', () => resolve('connected'))
    socket.once('connect_error', error => resolve(error.message))
    socket.io.once('close', reason => resolve(reason))
  })
}
