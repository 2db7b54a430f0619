import { once } from 'node:events'
import t, { type Test } from 'tap'
import { Budget } from '../../lib/server/budget.ts'
import { manualClock } from '../kit/manual-clock.ts'
import { type Person, signUp } from '../kit/person.ts'
import { startServer } from '../kit/server.ts'
import { openTcp, readAnswer } from './raw-http.ts'

const mib = 1024 * 1024

t.test('a budget is lent once, and what is returned can be lent again', async t => {
  const budget = new Budget(12)
  const [one, two] = [budget.share('a'), budget.share('b')]
  t.ok(one.take(7), 'who is alone may have more than half')
  t.notOk(two.take(3))
  t.ok(two.take(2))
  one.giveBack()
  one.giveBack()
  t.ok(two.take(7))
  t.notOk(one.take(2))
  two.giveBack()
  t.ok(one.take(99), 'who is alone may have more')
})

t.test('one account gets at most half of a budget, however many requests it makes [N2]', async t => {
  const budget = new Budget(100)
  const ofAda = Array.from({ length: 10 }, () => budget.share('ada'))
  t.equal(ofAda.filter(share => share.take(10)).length, 5)
  const ofBob = budget.share('bob')
  t.ok(ofBob.take(25), 'others have theirs')
  t.notOk(ofBob.take(20), 'and all together the whole')
  ofAda[0]?.giveBack()
  ofAda[0]?.giveBack()
  t.ok(ofAda[9]?.take(10), 'what was given back can be had again')
  t.notOk(ofAda[8]?.take(10))
})

t.test('however few take all they can, the next finds room for a little [N2]', async t => {
  const budget = new Budget(96)
  const takeAll = (owner: string) => {
    let taken = 0
    while (budget.share(owner).take(1)) taken += 1
    return taken
  }
  t.same(['a', 'b', 'c', 'd', 'e'].map(takeAll), [48, 24, 12, 6, 3])
  const [next, ofA] = [budget.share('next'), budget.share('a')]
  t.ok(next.take(1))
  next.giveBack()
  t.notOk(ofA.take(1), 'what is kept for others is for others')
})

t.test('long-held memory is reclaimed when others find none, the largest first, and never for its owner [N2]', async t => {
  const clock = manualClock()
  const budget = new Budget(100)
  const asked: string[] = []
  const lend = (owner: string, bytes: number) => {
    const share = budget.share(owner)
    share.lend(clock, () => {
      asked.push(`${bytes} of ${owner}`)
      share.giveBack()
    })
    t.ok(share.take(bytes), `${bytes} of ${owner}`)
  }
  for (const [owner, bytes] of [
    ['a', 20],
    ['a', 30],
    ['b', 5],
    ['b', 20]
  ] as const)
    lend(owner, bytes)
  const other = budget.share('c')
  t.notOk(other.take(25), 'none is old')
  clock.advance(10_000)
  t.notOk(budget.share('a').take(10), 'who has half asks nobody else')
  t.ok(other.take(45))
  t.same(asked, ['30 of a', '20 of a'])
})

t.test('a body that takes long to arrive is dropped when others find no memory [N2]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock })
  const [ada, eve, bob] = [await signUp(t, server), await signUp(t, server), await signUp(t, server)]
  const held = []
  for (const person of [eve, bob]) {
    const path = `/v3/sessions/${await person.openSession()}/messages`
    held.push(await sendAlmost(t, server, { token: person.token, path, size: 36 * mib }))
  }
  const session = await ada.openSession()
  const post = async (localId: string) => (await ada.send(session, { localId, content: 'x'.repeat(16 * mib) })).status
  // Some of what was sent may not have been read yet.
  for (let status = 0; status !== 503; ) status = await post('at once')
  clock.advance(10_000)
  t.equal(await post('later'), 200)
  t.match(await Promise.race(held.map(({ answered }) => answered)), /^HTTP\/1.1 503 /)
})

t.test('three accounts with all the bodies they can have keep nobody from a small post [N2]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  for (const eve of [await signUp(t, server), await signUp(t, server), await signUp(t, server)]) {
    const path = `/v3/sessions/${await eve.openSession()}/messages`
    for (let body = 0; body < 13; body++) await sendAlmost(t, server, { token: eve.token, path, size: 4 * mib })
  }
  t.equal((await ada.send(session, { localId: 'a', content: 'x'.repeat(mib) })).status, 200)
})

t.test('parts of attachments that wait for their rest count, and old ones make room for others [N2]', async t => {
  const clock = manualClock()
  const server = await startServer(t, { clock, now: () => 1e12 + clock.now() })
  const uploadOf = async (person: Person) => {
    const session = await person.openSession()
    const { body } = await person.call('POST', `/v1/sessions/${session}/attachments/request-upload`, { body: { size: 9 * mib } })
    return { method: 'PUT', token: person.token, path: new URL(body.uploadUrl).pathname, size: 256 * 1024 }
  }
  // As many as each may hold, and a few more.
  for (const most of [195, 100, 50]) {
    const upload = await uploadOf(await signUp(t, server))
    for (let number = 0; number < most; number++) {
      const { answered } = await sendAlmost(t, server, upload)
      // A rejected one may be closed while it still sends.
      answered.catch(() => {})
    }
  }
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const post = (localId: string) =>
    ada.send(session, { localId, content: 'x'.repeat(16 * mib) }).then(
      ({ status }) => status,
      () => 503
    )
  // Some of what was sent may not have been read yet.
  for (let status = 0; status !== 503; ) status = await post('at once')
  clock.advance(10_000)
  t.equal(await post('later'), 200)
})

/** A request whose body stops one byte before its end. */
async function sendAlmost(
  t: Test,
  server: { port: number },
  { method = 'POST', token, path, size }: { method?: string; token: string; path: string; size: number }
) {
  const socket = await openTcp(t, server)
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${size}\r\n\r\n`
  const answered = once(socket, 'data').then(([data]) => String(data))
  await new Promise(done => socket.write(head + ' '.repeat(size - 1), done))
  return { socket, answered }
}

t.test('bodies that never end hold a bounded amount of memory together; small requests pass, and free memory is reused [N2]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const path = `/v3/sessions/${session}/messages`
  const size = 60 * mib
  const held = []
  for (let number = 0; number < 5; number++) held.push(await sendAlmost(t, server, { token: ada.token, path, size }))
  const refused = await Promise.race(held.map(({ answered }) => answered))
  t.match(refused, /^HTTP\/1.1 503 /)
  t.match(readAnswer(refused).headers, { 'retry-after': /^\d+$/ })
  t.equal((await ada.send(session, { localId: 'small' })).status, 200)

  for (const { socket } of held) socket.resetAndDestroy()
  // Those that left have given back what they held, or the largest one would not fit now.
  for (let status = 503; status === 503; ) {
    status = (await ada.send(session, { localId: 'large', content: 'x'.repeat(30 * mib) }).catch(() => ({ status: 503 }))).status
    if (status !== 503) t.equal(status, 200)
  }
})
