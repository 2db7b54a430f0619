import t from 'tap'
import { mostStrangers, type Stranger, Strangers } from '../../../../lib/server/edge/listen/strangers.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { ask, openAcceptedPolling, openPolling } from '../../raw-polling.ts'
import { openAccepted, openWebSocket } from '../../raw-websocket.ts'

const limits = 'default'

/** The head of a frame that says so many bytes will come. */
function announce(bytes: number): Buffer {
  const head = Buffer.alloc(14)
  head[0] = 0x81
  head[1] = 0x80 | 127
  head.writeBigUInt64BE(BigInt(bytes), 2)
  return head
}

t.test('a large unauthenticated packet is not collected: the connection ends when it is announced [N2, B1]', async t => {
  const server = await startServer(t, { limits })
  const web = await openWebSocket(t, server)
  web.sendBytes(announce(65 * 1024))
  t.equal(await web.ended(), undefined)
  const parts = await openWebSocket(t, server)
  for (let part = 0; part < 3; part += 1) parts.sendFrame({ opcode: part === 0 ? 1 : 0, fin: false, payload: Buffer.alloc(30_000, 'x') })
  t.equal(await parts.ended(), undefined, 'nor in parts')
})

t.test('from networks with a valid token, large packets are accepted [N2]', async t => {
  const server = await startServer(t, { limits })
  const ada = await signUp(t, server)
  await ada.call('GET', '/v1/account/profile')
  const web = await openAccepted(t, server, { token: ada.token })
  web.send(`421["update-state",${JSON.stringify({ sid: 'x', agentState: 'a'.repeat(1_000_000), expectedVersion: 0 })}]`)
  t.match(await web.next(), /^431/)
})

t.test('a polling client that has left may not upgrade to a WebSocket for large packets [N2]', async t => {
  const server = await startServer(t, { limits })
  const ada = await signUp(t, server)
  const stays = await (await openAcceptedPolling(server, { token: ada.token })).openWebSocket(t)
  stays.sendBytes(announce(1_000_000))
  const polling = await openAcceptedPolling(server, { token: ada.token })
  await polling.post('41')
  const left = await polling.openWebSocket(t)
  left.sendBytes(announce(65 * 1024))
  const ended = [left, stays].map(web => web.ended().then(() => web))
  t.equal(await Promise.race(ended), left, 'who is signed in may')
})

t.test('from networks with a valid token, 32 sockets at once may start with a packet of 1 MiB; others wait [N2]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { limits, clock })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const begun = await Promise.all(Array.from({ length: 32 }, () => openWebSocket(t, server)))
  for (const web of begun) {
    await web.next()
    web.sendBytes(announce(1_000_000))
  }
  const [one, two] = begun
  const third = openWebSocket(t, server)
  t.equal((await ada.send(session, { localId: 'meanwhile' })).status, 200)
  two?.hangUp()
  const turn = await third
  await turn.next()
  turn.send(`40${JSON.stringify({ token: ada.token })}`)
  t.match(await turn.next(), /^40/)
  turn.send(`421["update-state",${JSON.stringify({ sid: 'x', agentState: 'a'.repeat(1_000_000), expectedVersion: 0 })}]`)
  t.match(await turn.next(), /^431/, 'who waited has room for them')

  await openWebSocket(t, server)
  const fifth = openWebSocket(t, server)
  let isOpen = false
  fifth.then(() => (isOpen = true))
  for (let passed = 0; !isOpen && passed < 3_000; passed += 100) {
    clock.advance(100)
    t.equal((await ada.send(session, { localId: `meanwhile ${passed}` })).status, 200, 'others go on')
  }
  const narrow = await fifth
  narrow.sendBytes(announce(65 * 1024))
  t.equal(await narrow.ended(), undefined, 'whose turn does not come begins with small ones')
  clock.advance(1_001)
  const sixth = await openWebSocket(t, server)
  sixth.sendBytes(announce(65 * 1024))
  t.equal(await sixth.ended(), undefined, 'and nobody waits where none came')

  clock.advance(3_000)
  t.equal(await one?.ended(), undefined, 'who does not sign in is closed')
  const later = await openWebSocket(t, server)
  later.sendBytes(announce(65 * 1024))
  t.equal(await later.ended(), undefined, 'and nobody of their network has a place')
  await openAccepted(t, server, { token: ada.token })
  const again = await openAccepted(t, server, { token: ada.token })
  again.send(`421["update-state",${JSON.stringify({ sid: 'x', agentState: 'a'.repeat(1_000_000), expectedVersion: 0 })}]`)
  t.match(await again.next(), /^431/, 'until somebody signs in')
})

t.test('a large packet is not parsed before sign-in, also from networks with a valid token [N2]', async t => {
  const server = await startServer(t, { limits })
  const ada = await signUp(t, server)
  await ada.openSession()
  const web = await openWebSocket(t, server)
  web.send(`40${JSON.stringify({ token: ada.token, more: 'x'.repeat(70_000) })}`)
  t.equal(await web.ended(), undefined)
})

t.test('an invalid token makes no network known [N2]', async t => {
  const server = await startServer(t, { limits })
  await ask(server, '/v1/account/profile', { headers: { authorization: 'Bearer nobody' } })
  const web = await openWebSocket(t, server)
  web.sendBytes(announce(65 * 1024))
  t.equal(await web.ended(), undefined)
})

t.test(
  'unauthenticated connections of an address are limited on every transport, and the oldest makes room; signed-in ones stay [N8]',
  async t => {
    const server = await startServer(t, { limits })
    const ada = await signUp(t, server)
    const own = await ada.connect()
    const polling = await openPolling(server)
    const waiting = []
    for (let count = 1; count < mostStrangers.ofAddress; count += 1) waiting.push(await openWebSocket(t, server))
    const newest = await openWebSocket(t, server)
    t.match(await ask(server, polling.path), { status: 400, text: /Session ID unknown/ }, 'the oldest, by polling, is gone')
    const [oldest, second] = waiting
    await openPolling(server)
    t.equal(await oldest?.ended(), undefined, 'and then the next')

    for (const web of [second, newest]) {
      await web?.next()
      web?.send(`40${JSON.stringify({ token: ada.token })}`)
      t.match(await web?.next(), /^40/, 'who is still there is let in')
    }
    t.same(await own.emitWithAck('ping'), {})
  }
)

t.test('an unauthenticated connection that makes room while it waits is closed, and not upgraded later [N8]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { limits, clock })
  const ada = await signUp(t, server)
  const from = (address: string) => ({ port: server.port, from: address })
  await openAccepted(t, from('127.0.0.3'), { token: ada.token })
  // All places for packets of 1 MiB are taken by others, so those of this address wait.
  for (const [network, places] of [32, 16, 8, 4, 2, 1].entries()) {
    const other = from(`127.0.1.${network + 1}`)
    await openAccepted(t, other, { token: ada.token })
    for (let count = 0; count < places; count += 1) await openWebSocket(t, other)
  }
  const oldest = openWebSocket(t, from('127.0.0.3'))
  let isClosed = false
  oldest.catch(() => {
    isClosed = true
  })
  const meanwhile = async () => t.equal((await ada.call('GET', '/v1/account/profile')).status, 200, 'others go on')
  await meanwhile()
  const others = Array.from({ length: mostStrangers.ofAddress }, () => openWebSocket(t, from('127.0.0.3')))
  for (let count = 0; !isClosed && count < 100; count += 1) await meanwhile()
  clock.advance(1_001)
  await t.rejects(oldest, /hung up without an answer/)
  t.equal((await Promise.all(others)).length, mostStrangers.ofAddress, 'the others are upgraded')
})

t.test('a signed-in connection does not count as unauthenticated for its address [N8]', async t => {
  const server = await startServer(t, { limits })
  const people = [await signUp(t, server), await signUp(t, server)]
  const signedIn = await openAccepted(t, server, { token: people[0]?.token })
  for (const { token } of people) for (let count = 0; count < 50; count += 1) await openAccepted(t, server, { token })
  const first = await openWebSocket(t, server)
  await first.next()
  for (let count = 1; count < mostStrangers.ofAddress; count += 1) await openWebSocket(t, server)
  first.send(`40${JSON.stringify({ token: people[0]?.token })}`)
  t.match(await first.next(), /^40/)
  signedIn.send('421["ping"]')
  t.equal(await signedIn.next(), '431[{}]')
})

t.test('a connection that was signed out counts as unauthenticated again [N8]', async t => {
  const server = await startServer(t, { limits })
  const ada = await signUp(t, server)
  const left = await openAccepted(t, server, { token: ada.token })
  left.send('41')
  left.send('40{"token":"none"}')
  await left.next()
  for (let count = 0; count < mostStrangers.ofAddress; count += 1) await openWebSocket(t, server)
  t.equal(await left.ended(), undefined)
})

t.test('pages of another site get few places, and programs and our own pages are not limited by them [H2]', async t => {
  const server = await startServer(t, { limits, publicUrl: 'https://afield.example.net' })
  const program = await openWebSocket(t, server)
  const own = [
    await openWebSocket(t, { port: server.port, headers: { origin: 'http://localhost' } }),
    await openWebSocket(t, { port: server.port, headers: { origin: 'https://afield.example.net' } })
  ]
  const foreign = { port: server.port, headers: { origin: 'https://evil.example' } }
  const pages = []
  for (let count = 0; count < 2 * mostStrangers.ofPage; count += 1) pages.push(await openWebSocket(t, foreign))
  for (const page of pages.slice(0, mostStrangers.ofPage)) t.equal(await page.ended(), undefined)
  const ada = await signUp(t, server)
  for (const web of [program, ...own, pages[mostStrangers.ofPage]]) {
    await web?.next()
    web?.send(`40${JSON.stringify({ token: ada.token })}`)
    t.match(await web?.next(), /^40/)
  }
})

for (const [name, origins] of [
  ['one other site', () => 'https://evil.example'],
  ['other sites without end', (number: number) => `https://${number}.evil.example`]
] as const) {
  t.test(`pages of ${name} displace no program's connection from the same address [H2]`, async t => {
    const server = await startServer(t, { limits })
    const programs = []
    for (let count = 0; count < 20; count += 1) programs.push(await openWebSocket(t, server))
    for (let count = 0; count < 100; count += 1) await openWebSocket(t, { port: server.port, headers: { origin: origins(count) } })
    const ada = await signUp(t, server)
    for (const web of programs) {
      await web.next()
      web.send(`40${JSON.stringify({ token: ada.token })}`)
      t.match(await web.next(), /^40/)
    }
  })
}

t.test('when --cors-origin names a site, pages of others get no connection, by WebSocket or polling [H2]', async t => {
  const server = await startServer(t, { corsOrigin: 'https://app.example.net', publicUrl: 'https://afield.example.net' })
  const handshake = '/v1/updates/?EIO=4&transport=polling'
  for (const origin of ['https://evil.example', 'http://app.example.net', 'https://localhost.evil.example', 'null', 'nonsense']) {
    await t.rejects(
      openWebSocket(t, { port: server.port, headers: { origin } }),
      /HTTP\/1\.1 403 Forbidden[\s\S]*\{"code":4,"message":"Forbidden"\}/,
      origin
    )
    t.match(await ask(server, handshake, { headers: { origin } }), { status: 403, text: '{"code":4,"message":"Forbidden"}' }, origin)
  }
  for (const origin of ['https://app.example.net', 'https://afield.example.net', server.url.toUpperCase(), undefined]) {
    const headers: Record<string, string> = { host: `127.0.0.1:${server.port}`, ...(origin !== undefined && { origin }) }
    t.ok(await openWebSocket(t, { port: server.port, headers }), `${origin}`)
    t.equal((await ask(server, handshake, { headers })).status, 200, `${origin}`)
  }
})

/** Each from another /16, as a proxy says it. */
function fromAnywhere(server: { port: number }, number: number) {
  return { port: server.port, headers: { 'x-forwarded-for': `${1 + (number % 200)}.${Math.floor(number / 200)}.1.1` } }
}

t.test("a flood from anywhere cannot use up a known network's places [N8]", async t => {
  const server = await startServer(t, { limits, trustProxy: 'loopback' })
  const ada = await signUp(t, server)
  await ada.call('GET', '/v1/account/profile')
  const known = await openWebSocket(t, server)
  const stranger = await openWebSocket(t, fromAnywhere(server, 0))
  for (let number = 1; number <= mostStrangers.inRoom; number += 1) await openWebSocket(t, fromAnywhere(server, number))
  t.equal(await stranger.ended(), undefined, 'but those of unknown ones')
  await known.next()
  known.send(`40${JSON.stringify({ token: ada.token })}`)
  t.match(await known.next(), /^40/)
})

t.test('when places are scarce, a request with a token makes its network known, also with a cached token [N8]', async t => {
  const server = await startServer(t, { limits, trustProxy: 'loopback' })
  const ada = await signUp(t, server)
  await ada.call('GET', '/v1/account/profile')
  for (let number = 1; number <= mostStrangers.inRoom / 2; number += 1) await openWebSocket(t, fromAnywhere(server, number))
  const elsewhere = fromAnywhere(server, 0)
  t.equal((await ada.call('GET', '/v1/account/profile', elsewhere)).status, 200)
  const web = await openWebSocket(t, elsewhere)
  for (let number = 1; number <= mostStrangers.inRoom; number += 1) await openWebSocket(t, fromAnywhere(server, number))
  await web.next()
  web.send(`40${JSON.stringify({ token: ada.token })}`)
  t.match(await web.next(), /^40/)
})

const asComer = (address: string, page = ''): Stranger & { isOut: boolean } => ({
  address,
  page,
  isOut: false,
  makeRoom() {
    this.isOut = true
  }
})

t.test('the oldest connection of the largest crowd makes room, the widest network first, IPv6 too [N8]', async t => {
  const ipv6 = (region: number, site: number, lan: number) =>
    [0x2001, region, site, lan, 0, 0, 0, 1].map(group => group.toString(16).padStart(4, '0')).join(':')
  const crowds: [name: string, crowd: (number: number) => string, alone: string][] = [
    ['addresses of a /16', number => `192.0.${number & 255}.${number >> 8}`, '198.51.100.1'],
    ['/64s of a /48', number => ipv6(1, 2, number), ipv6(1, 3, 1)],
    ['/48s of a /32', number => ipv6(1, number, 1), ipv6(2, 1, 1)],
    ['one address', () => '192.0.2.1', '192.0.2.2']
  ]
  for (const [name, crowd, alone] of crowds) {
    const strangers = new Strangers({ limits })
    const first = asComer(alone)
    strangers.come(first)
    const all = Array.from({ length: 2 * mostStrangers.inRoom }, (_, number) => asComer(crowd(number)))
    for (const stranger of all) strangers.come(stranger)
    const stayed = all.filter(({ isOut }) => !isOut)
    t.notOk(first.isOut, `who is alone stays: ${name}`)
    t.ok(strangers.count <= mostStrangers.inRoom)
    t.equal(stayed.length, strangers.count - 1)
    t.same(stayed, all.slice(-stayed.length), 'the newest stay')
  }
})

t.test('known networks make room among themselves, and their list is bounded [N8]', async t => {
  const strangers = new Strangers({ limits })
  strangers.know('198.51.100.1')
  const own = asComer('198.51.100.1')
  strangers.come(own)
  for (let number = 0; number < 1_000; number += 1) strangers.come(asComer(`198.51.${number >> 8}.${number & 255}`))
  t.notOk(own.isOut)
  for (let number = 0; number < mostStrangers.ofAddress; number += 1) strangers.come(asComer('198.51.100.1'))
  t.ok(own.isOut, 'its neighbours are in its way')
  strangers.leave(own)
  strangers.leave(own)
  t.equal(strangers.count, mostStrangers.inRoom + mostStrangers.ofAddress, 'leaving twice frees no place')

  for (let number = 0; number < 10_000; number += 1) strangers.know(`${number}`)
  t.notOk(strangers.isKnown('198.51.100.1'))
  t.ok(strangers.isKnown('9999'))
})
