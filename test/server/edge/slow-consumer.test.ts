import t from 'tap'
import { manualClock } from '../../kit/manual-clock.ts'
import { signUp, type Untyped } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { listen } from '../heard.ts'
import { openAccepted } from '../raw-websocket.ts'

const megabyte = 1024 * 1024

t.test('a connection that does not read is closed with 4008, has no gap, and nobody else waits for it [B1, B3, B4]', async t => {
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

t.test('one message larger than all that may wait does not make anybody slow [B1]', async t => {
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

t.test('who goes on not reading is cut off without a word after 5 s, so that nothing is kept for it [B1]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = listen(await ada.connect())
  const stalled = await openAccepted(t, server, { token: ada.token })
  stalled.stall()
  const content = 'x'.repeat(megabyte)
  for (let number = 1; number <= 12; number += 1) await ada.send(session, { localId: `${number}`, content })
  await app.settled()
  clock.advance(5_000)
  stalled.resume()
  t.equal(await stalled.ended(), undefined, 'there was no close frame')
  t.ok(stalled.texts.length < 12)
})

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
