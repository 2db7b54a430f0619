import t, { type Test } from 'tap'
import { LargePacketSlots } from '../../../../lib/server/edge/listen/large-packet-slots.ts'
import { type PreSignInSlot, PreSignInSlots } from '../../../../lib/server/edge/listen/pre-sign-in-slots.ts'
import { manualClock } from '../../../kit/manual-clock.ts'
import { type Person, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { openAcceptedPolling } from '../../raw-polling.ts'
import { openAccepted, type RawWebSocket } from '../../raw-websocket.ts'

const limits = 'default'
const mib = 1024 * 1024

/** More than a socket takes at first. */
const large = (localId = 'a') => `42["message",${JSON.stringify({ sid: 'none', localId, message: 'x'.repeat(2 * mib) })}]`

/** Whose network a good token came from. */
async function knownPerson(t: Test, server: Awaited<ReturnType<typeof startServer>>): Promise<Person> {
  const person = await signUp(t, server)
  await person.call('GET', '/v1/account/profile')
  return person
}

async function isTaken(web: RawWebSocket): Promise<boolean> {
  await web.pourText(large())
  web.send('421["ping"]')
  for (;;) {
    const text = await web.next()
    // It may be pinged.
    if (text !== '2') return text?.startsWith('431') ?? false
  }
}

t.test('a packet over 1 MiB ends the socket, and the next one from that network accepts it [N2]', async t => {
  const server = await startServer(t, { limits })
  const ada = await knownPerson(t, server)
  const open = () => openAccepted(t, server, { token: ada.token })
  t.notOk(await isTaken(await open()))
  t.ok(await isTaken(await open()))
  const elsewhere = { ...server, from: '127.0.5.1' }
  // The first from there is a stranger’s.
  await openAccepted(t, elsewhere, { token: ada.token })
  t.notOk(await isTaken(await openAccepted(t, elsewhere, { token: ada.token })), 'of that network alone')
})

t.test('an account has three sockets for large packets, and a long unused one makes room [N2]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { limits, clock })
  const ada = await knownPerson(t, server)
  const open = () => openAccepted(t, server, { token: ada.token })
  t.notOk(await isTaken(await open()))
  const [first, second] = [await open(), await open()]
  await open()
  await t.rejects(open(), 'they are all in use')
  t.notOk(await isTaken(await open()), 'so who comes back is let in for usual packets')
  clock.advance(20_000)
  t.ok(await isTaken(first))
  await open()
  t.equal(await second.ended(), undefined)
  t.ok(await isTaken(first), 'and who used it stays')
})

t.test('a polling client upgrades to a WebSocket for large packets the same way [N2]', async t => {
  const server = await startServer(t, { limits })
  const ada = await knownPerson(t, server)
  const change = async () => {
    const polling = await openAcceptedPolling(server, { token: ada.token })
    const web = await polling.openWebSocket(t)
    web.send('2probe')
    await web.next()
    web.send('5')
    return web
  }
  t.notOk(await isTaken(await change()))
  t.ok(await isTaken(await change()))
})

t.test('a client that leaves the namespace stays on a socket for large packets until others need its place [N2]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { limits, clock })
  const ada = await knownPerson(t, server)
  const open = (from?: string) => openAccepted(t, { ...server, ...(from && { from }) }, { token: ada.token })
  const usual = await open()
  t.notOk(await isTaken(await open()))
  const wide = await open()
  for (const web of [usual, wide]) {
    web.send('41')
    clock.advance(15_000)
    t.equal(await web.next(), '2', 'it is pinged as before')
    web.send('3')
    web.send(`40${JSON.stringify({ token: ada.token })}`)
    t.match(await web.next(), /^40\{"sid"/)
  }
  t.ok(await isTaken(wide), 'and may send as much as before')
})

t.test('sockets that were signed out hold places for large packets as those before sign-in do [N2]', t => {
  const clock = manualClock()
  const places = new PreSignInSlots({ limits }, { clock })
  const ended: number[] = []
  const stay = (network: string, at: number) => {
    const place = places.stay(network, 'large', () => {
      ended.push(at)
      place?.leave()
    })
    return place
  }
  t.ok(stay('a', 0))
  t.notOk(stay('a', 1), 'half of the bytes are of one network')
  t.ok(stay('b', 2))
  t.notOk(stay('c', 3))
  clock.advance(10_000)
  const given: (PreSignInSlot | undefined)[] = []
  places.enter('c', 'large', place => given.push(place))
  t.equal(given[0]?.packetSize, 'large')
  t.same(ended, [0])
  t.end()
})

t.test('when all accounts together have many sockets, new ones start as unauthenticated, and get 1 MiB once needed [N2]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { limits, clock })
  const people = [await knownPerson(t, server), await knownPerson(t, server)]
  const crowd = []
  for (const { token } of people) for (let count = 0; count < 64; count += 1) crowd.push(await openAccepted(t, server, { token }))
  const ada = await signUp(t, server)
  const open = () => openAccepted(t, server, { token: ada.token })
  const usual = `42["message",${JSON.stringify({ sid: 'none', message: 'x'.repeat(100_000) })}]`
  const narrow = await open()
  narrow.send(usual)
  t.equal(await narrow.ended(), undefined)
  const wanted = await open()
  wanted.send(usual)
  wanted.send('421["ping"]')
  t.equal(await wanted.next(), '431[{}]')
  t.equal(await crowd[0]?.ended(), undefined, 'one of the account with the most makes room')
  crowd[1]?.send('421["ping"]')
  t.equal(await crowd[1]?.next(), '431[{}]', 'and no other')
})

/** Takes places of a packetSize for accounts of a network each, and notes whose were given up. */
function takingOf(packetSize: 'usual' | 'large') {
  const clock = manualClock()
  const places = new LargePacketSlots({ limits }, { clock })
  const gone: string[] = []
  const take = (account: string) => places.take({ account, packetSize, network: account, makeRoom: () => void gone.push(account) })
  return { clock, places, gone, take }
}

t.test('six sockets of all accounts may send the largest packets; the account with the most makes room [N2]', t => {
  const { clock, gone, take } = takingOf('large')
  const held = ['a', 'a', 'a', 'b', 'b', 'c'].map(take)
  t.notOk(take('a'), 'three of an account')
  t.ok(take('d'))
  t.same(gone, ['a'])
  t.notOk(take('b'), 'who has as many as anybody waits')
  held[5]?.leave()
  held[5]?.use()
  t.ok(take('e'), 'who has left takes no place')
  clock.advance(20_000)
  for (const place of [held[1], held[3], held[4]]) place?.use()
  t.ok(take('f'))
  t.same(gone, ['a', 'a'], 'then the one that was unused for the longest')
  t.end()
})

t.test('a place in constant use makes room after two minutes, when each account has one [N2]', t => {
  const { clock, gone, take } = takingOf('large')
  const held = ['a', 'b', 'c', 'd', 'e', 'f'].map(take)
  for (let passed = 0; passed < 119; passed += 1) {
    clock.advance(1_000)
    for (const place of held) place?.use()
  }
  t.notOk(take('g'))
  clock.advance(1_000)
  t.ok(take('g'))
  t.same(gone, ['a'])
  t.end()
})

t.test('a network counts as waiting for a minute, and only a few do at once', t => {
  const { clock, places, take } = takingOf('usual')
  t.equal(places.packetSizeFor('a'), 'usual')
  places.want('a', 'large')
  t.equal(places.packetSizeFor('a'), 'large')
  clock.advance(60_000)
  t.equal(places.packetSizeFor('a'), 'usual')
  for (let count = 0; count < 128; count += 1) take(`account ${count % 2}`)
  t.equal(places.packetSizeFor('a'), 'small')
  for (let count = 0; count <= 1_000; count += 1) places.want(`network ${count}`, 'usual')
  t.equal(places.packetSizeFor('network 0'), 'small')
  t.equal(places.packetSizeFor('network 1'), 'usual')
  t.end()
})
