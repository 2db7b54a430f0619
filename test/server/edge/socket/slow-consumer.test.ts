import t from 'tap'
import { manualClock } from '../../../kit/manual-clock.ts'
import { signUp, type Untyped } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { listen } from '../../heard.ts'
import { openAccepted, openWebSocket, pingOf } from '../../raw-websocket.ts'

const megabyte = 1024 * 1024

t.test('a connection that does not read is closed with 4008, has no gap, and delays no one else [B1, B3, B4]', async t => {
  const server = await startServer(t, { clock: manualClock() })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = listen(await ada.connect())
  const stalled = await openAccepted(t, server, { token: ada.token })
  stalled.stall()

  // The kernel takes some megabytes before anything waits in the server.
  const content = 'x'.repeat(megabyte)
  const before = process.memoryUsage().rss
  for (let number = 1; number <= 60; number += 1) await ada.send(session, { localId: `${number}`, content })
  const grown = process.memoryUsage().rss - before
  await app.settled()
  t.same(
    app.bodies('new-message').map(({ message }) => message.seq),
    range(1, 60),
    'somebody who reads has everything'
  )

  stalled.resume()
  t.equal(await stalled.ended(), 4008)
  const seqs = stalled.texts.map(text => JSON.parse(text.slice(2))[1].body.message.seq)
  t.ok(seqs.length > 0 && seqs.length < 60, `${seqs.length} of 60 had arrived`)
  t.same(seqs, range(1, seqs.length))
  t.comment(`memory grew by ${Math.round(grown / megabyte)} MB, the two clients of this test included`)

  const { body } = await ada.call('GET', `/v3/sessions/${session}/messages?after_seq=${seqs.length}&limit=500`)
  const rest = body.messages.map((message: Untyped) => message.seq)
  t.equal(rest[0], seqs.length + 1, 'what it missed is where it comes back to')
})

t.test('one message over the backlog limit does not close its reader [B1]', async t => {
  const server = await startServer(t, { clock: manualClock() })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const slow = await openAccepted(t, server, { token: ada.token })
  slow.stall()
  await ada.send(session, { localId: 'large', content: 'x'.repeat(30 * megabyte) })
  slow.resume()
  t.ok((await slow.next())?.startsWith('42["update"'))
  slow.send('421["ping"]')
  t.equal(await slow.next(), '431[{}]')
})

t.test('a client that still does not read is dropped after 5 s, freeing its backlog [B1]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = listen(await ada.connect())
  const stalled = await openAccepted(t, server, { token: ada.token })
  stalled.stall()
  const content = 'x'.repeat(megabyte)
  for (let number = 1; number <= 60; number += 1) await ada.send(session, { localId: `${number}`, content })
  await app.settled()
  clock.advance(5_000)
  stalled.resume()
  t.equal(await stalled.ended(), undefined, 'there was no close frame')
  t.ok(stalled.texts.length < 60, `${stalled.texts.length} of 60 had arrived`)
})

t.test('unread pongs end their connection, before and after sign-in [B1]', async t => {
  const server = await startServer(t, { clock: manualClock() })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const pings = Buffer.concat(Array.from({ length: 500 }, () => pingOf(Buffer.alloc(125))))
  const sockets = { stranger: await openWebSocket(t, server), account: await openAccepted(t, server, { token: ada.token }) }
  for (const [whose, web] of Object.entries(sockets)) {
    web.stall()
    let poured = 0
    while (poured < 64 * megabyte && (await web.pour(pings))) poured += pings.length
    t.ok(poured < 64 * megabyte, `of a ${whose} after ${Math.round(poured / megabyte)} MB, most of them in the kernel`)
  }
  t.equal((await ada.send(session, { localId: 'after' })).status, 200)
})

t.test('a flood of pings closes a connection, a few do not, and while much is read they do no harm [B1, B5]', async t => {
  const server = await startServer(t, { clock: manualClock(), limits: 'default' })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const reader = await openAccepted(t, server, { token: ada.token })
  reader.stall()
  await ada.send(session, { localId: 'large', content: 'x'.repeat(20 * megabyte) })
  for (let number = 0; number < 500; number += 1) reader.send('x', 'ping')
  await reader.pour(Buffer.alloc(0))
  reader.resume()
  t.ok((await reader.next())?.startsWith('42["update"'))
  reader.send('421["ping"]')
  t.equal(await reader.next(), '431[{}]')
  for (let number = 0; number < 3_000; number += 1) reader.send('x', 'ping')
  await reader.ended()
})

t.test('a slow reader of a large message does not count as silent, and pings overtake unsent messages [B1]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const reader = await openAccepted(t, server, { token: ada.token })
  reader.stall()
  const content = 'x'.repeat(20 * megabyte)
  await ada.send(session, { localId: '1', content }, { localId: '2', content })
  clock.advance(16_000)
  await ada.send(session, { localId: '3' })
  clock.advance(40_000)
  reader.resume()
  t.equal(seqIn(await reader.next()), 1)
  t.equal(await reader.next(), '2')
  t.equal(seqIn(await reader.next()), 2)
  t.equal(seqIn(await reader.next()), 3)
  clock.advance(10_000)
  reader.send('421["ping"]')
  t.equal(await reader.next(), '431[{}]', 'its ping was not answered for more than 45 s')
})

t.test('large and small messages and answers keep their order on every connection [B1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const readers = await Promise.all(Array.from({ length: 10 }, () => openAccepted(t, server, { token: ada.token })))
  const sizes = [0.1, 0.001, 3, 0.2, 0.001, 1, 5, 0.001]
  for (const [index, size] of sizes.entries()) {
    const { status } = await ada.send(session, { localId: `${index}`, content: 'é'.repeat((size * megabyte) / 2) })
    t.equal(status, 200)
  }
  for (const reader of readers) reader.send('427["ping"]')
  for (const reader of readers) {
    const seqs = []
    for (const _ of sizes) seqs.push(seqIn(await reader.next()))
    t.same(seqs, range(1, sizes.length))
    t.equal(await reader.next(), '437[{}]')
  }
})

function seqIn(text: string | undefined): number {
  return JSON.parse(text?.slice(2) ?? '[]')[1].body.message.seq
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
