import t, { type Test } from 'tap'
import { LargePlaces } from '../../../../lib/server/edge/listen/large-places.ts'
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

t.test('a packet of more than 1 MiB ends the socket, and the next one of that network takes it [N2]', async t => {
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

t.test('an account has three sockets for large packets, and one that was unused for long makes room [N2]', async t => {
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

t.test('who polls comes to a WebSocket for large packets in the same way [N2]', async t => {
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

t.test('who leaves the namespace on a socket for more than a stranger may send has it closed [N2]', async t => {
  const server = await startServer(t, { limits })
  const ada = await knownPerson(t, server)
  const open = () => openAccepted(t, server, { token: ada.token })
  const usual = await open()
  usual.send('41')
  t.equal(await usual.ended(), 1000)
  t.notOk(await isTaken(await open()))
  const wide = await open()
  wide.send('41')
  t.equal(await wide.ended(), 1000)
})

t.test('six sockets of all accounts may send the largest packets', t => {
  const clock = manualClock()
  const places = new LargePlaces({ limits }, { clock })
  const gone: string[] = []
  const take = (account: string) => places.take(account, 'network', () => void gone.push(account))
  const held = ['a', 'a', 'a', 'b', 'b', 'c'].map(take)
  t.notOk(take('d'))
  held[3]?.leave()
  t.ok(take('d'))
  clock.advance(20_000)
  held[0]?.use()
  t.ok(take('e'))
  t.same(gone, ['a'], 'then the one that was unused for the longest')
  t.end()
})

t.test('a network counts as wanting for a minute, and few do at once', t => {
  const clock = manualClock()
  const places = new LargePlaces({ limits }, { clock })
  places.want('a')
  t.ok(places.isWanted('a'))
  clock.advance(60_000)
  t.notOk(places.isWanted('a'))
  for (let count = 0; count <= 1_000; count += 1) places.want(`network ${count}`)
  t.notOk(places.isWanted('network 0'))
  t.ok(places.isWanted('network 1'))
  t.end()
})
