import t from 'tap'
import { next, type Person, signUp, type Untyped } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'
import { listen } from '../../heard.ts'

const notFound = { status: 404, body: { error: 'Session not found' } }
const seqs = (body: Untyped): number[] => body.messages.map((message: { seq: number }) => message.seq)

function read(person: Person, session: string, query = '') {
  return person.call('GET', `/v3/sessions/${session}/messages${query}`)
}

t.test('a batch is numbered in the order of its array and answered without content [O3]', async t => {
  const server = await startServer(t, { now: () => 1_700_000_000_000 })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const { status, body } = await ada.send(session, { localId: 'b', content: 'two' }, { localId: 'a', content: 'one' })
  t.equal(status, 200)
  t.equal(body.messages.length, 2)
  const times = { createdAt: 1_700_000_000_000, updatedAt: 1_700_000_000_000 }
  t.match(body, {
    messages: [
      { seq: 1, localId: 'b', ...times },
      { seq: 2, localId: 'a', ...times }
    ]
  })
  for (const receipt of body.messages) t.same(Object.keys(receipt).toSorted(), ['createdAt', 'id', 'localId', 'seq', 'updatedAt'])

  const page = await read(ada, session)
  t.same(page.body.hasMore, false)
  t.same(page.body.messages, [
    { ...body.messages[0], content: { t: 'encrypted', c: 'two' } },
    { ...body.messages[1], content: { t: 'encrypted', c: 'one' } }
  ])
  t.equal((await ada.call('GET', '/v1/sessions')).body.sessions[0].seq, 2)
})

t.test('a repeated batch is answered with its stored rows, stored once and announced once [X1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const heard = listen(await ada.connect())
  const first = await ada.send(session, { localId: 'a' }, { localId: 'b' })
  t.same(await ada.send(session, { localId: 'a' }, { localId: 'b' }), first)
  const mixed = await ada.send(session, { localId: 'c' }, { localId: 'a', content: 'another text' })
  t.same(seqs(mixed.body), [1, 3], 'ascending, the known and the new')
  t.same(seqs((await read(ada, session)).body), [1, 2, 3])
  await heard.settled()
  t.same(
    heard.bodies('new-message').map(({ message }) => message.seq),
    [1, 2, 3]
  )
})

t.test('a batch repeated to a restarted server is not announced again [X1]', async t => {
  const data = t.testdir()
  const first = await startServer(t, { data })
  const ada = await signUp(t, first)
  const session = await ada.openSession()
  const answer = await ada.send(session, { localId: 'a' })
  await first.close()
  const again = await signUp(t, await startServer(t, { data }), ada.secret)
  const heard = listen(await again.connect())
  t.same(await again.send(session, { localId: 'a' }), answer)
  await heard.settled()
  t.same(heard.updates, [])
})

t.test('of equal localIds in one batch the first wins', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const { body } = await ada.send(session, { localId: 'a', content: 'first' }, { localId: 'b' }, { localId: 'a', content: 'second' })
  t.same(seqs(body), [1, 2])
  const page = await read(ada, session)
  t.same(
    page.body.messages.map((message: Untyped) => message.content.c),
    ['first', 'aGk=']
  )
})

t.test('two concurrent senders of the same message get the same answer, over HTTP and socket [X2]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const socket = await ada.connect()
  for (let round = 1; round <= 20; round += 1) {
    const localId = `same-${round}`
    socket.emit('message', { sid: session, message: 'aGk=', localId })
    const [one, two] = await Promise.all([ada.send(session, { localId }), ada.send(session, { localId })])
    t.same(one, two)
    t.same(seqs(one.body), [round], 'no number was spent on the repeats')
  }
  await socket.emitWithAck('ping')
  t.equal((await read(ada, session)).body.messages.length, 20)
})

t.test('a localId has no meaning in another session [X3]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  for (const session of [await ada.openSession(), await ada.openSession()])
    t.same(seqs((await ada.send(session, { localId: 'a' })).body), [1])
})

t.test('batches of 1 to 1,000 are accepted; none and more are 400, as is an empty localId', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const batch = (size: number) => Array.from({ length: size }, (_, number) => ({ localId: `${number}`, content: 'x' }))
  const post = (messages: unknown) => ada.call('POST', `/v3/sessions/${session}/messages`, { body: { messages } })
  const refused = [
    [],
    batch(1001),
    [{ localId: '', content: 'x' }],
    [{ localId: 'x' }],
    [{ content: 'x' }],
    [{ localId: 7, content: 'x' }],
    'x'
  ]
  for (const messages of refused) t.match(await post(messages), { status: 400, body: { error: 'Error', statusCode: 400 } })
  t.equal((await read(ada, session)).body.messages.length, 0, 'nothing of a refused batch is kept')
  const { status, body } = await post(batch(1000))
  t.equal(status, 200)
  t.same(
    seqs(body),
    Array.from({ length: 1000 }, (_, index) => index + 1)
  )
})

t.test('pages go up after a seq and down before one, and say whether there is more [O2]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  await ada.send(session, ...Array.from({ length: 250 }, (_, number) => ({ localId: `${number}` })))
  const range = (from: number, to: number) =>
    Array.from({ length: Math.abs(to - from) + 1 }, (_, step) => (from < to ? from + step : from - step))
  const table: [query: string, expected: number[], hasMore: boolean][] = [
    ['', range(1, 100), true],
    ['?after_seq=0', range(1, 100), true],
    ['?after_seq=100', range(101, 200), true],
    ['?after_seq=150&limit=100', range(151, 250), false],
    ['?after_seq=200', range(201, 250), false],
    ['?after_seq=249', [250], false],
    ['?after_seq=250', [], false],
    ['?after_seq=2147483647', [], false],
    ['?after_seq=248&limit=1', [249], true],
    ['?limit=500', range(1, 250), false],
    ['?limit=250', range(1, 250), false],
    ['?limit=249', range(1, 249), true],
    ['?before_seq=2147483647&limit=100', range(250, 151), true],
    ['?before_seq=2147483648&limit=100', range(250, 151), true],
    [`?before_seq=${Number.MAX_SAFE_INTEGER}&limit=100`, range(250, 151), true],
    [`?after_seq=${Number.MAX_SAFE_INTEGER}&limit=100`, [], false],
    ['?before_seq=151', range(150, 51), true],
    ['?before_seq=101', range(100, 1), false],
    ['?before_seq=2', [1], false],
    ['?before_seq=1', [], false]
  ]
  for (const [query, expected, hasMore] of table) {
    const { status, body } = await read(ada, session, query)
    t.equal(status, 200)
    t.same(seqs(body), expected, query)
    t.equal(body.hasMore, hasMore, query)
  }
  const latest = await ada.call('GET', `/v1/sessions/${session}/messages`)
  t.same(Object.keys(latest.body), ['messages'])
  t.same(seqs(latest.body), range(250, 101))
})

t.test('an unknown session is 404 on every route to its messages', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  t.same(await read(ada, 'unknown'), notFound)
  t.same(await ada.call('GET', '/v1/sessions/unknown/messages'), notFound)
  t.same(await ada.send('unknown', { localId: 'a' }), notFound)
})

t.test("a new message is announced in full, with the account's update seq, before its sender is answered", async t => {
  const server = await startServer(t, { now: () => 1_700_000_000_000 })
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const app = await ada.connect()
  const order: string[] = []
  app.on('update', () => order.push('told'))
  const told = next(app, 'update')
  const { body } = await ada.send(session, { localId: 'a', content: 'sealed' })
  const update = await told
  order.push('answered')
  t.match(update, { id: /^[a-z0-9]{12,}$/, seq: 2, createdAt: 1_700_000_000_000 })
  t.same(update.body, { t: 'new-message', sid: session, message: { ...body.messages[0], content: { t: 'encrypted', c: 'sealed' } } })
  t.same(order, ['told', 'answered'])
})

t.test('update seqs rise by one with each update, whatever it is about', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const heard = listen(await ada.connect())
  const session = await ada.openSession()
  await ada.send(session, { localId: 'a' }, { localId: 'b' })
  await ada.call('POST', '/v1/machines', { body: { id: 'm', metadata: 'x' } })
  await ada.call('POST', '/v1/account/settings', { body: { settings: 'x', expectedVersion: 0 } })
  await ada.call('DELETE', '/v1/machines/m')
  await ada.call('DELETE', `/v1/sessions/${session}`)
  await heard.settled()
  t.same(
    heard.updates.map(({ seq, body }) => [seq, body.t]),
    [
      [1, 'new-session'],
      [2, 'new-message'],
      [3, 'new-message'],
      [4, 'new-machine'],
      [5, 'update-machine'],
      [6, 'update-account'],
      [7, 'delete-machine'],
      [8, 'delete-session']
    ]
  )
  t.equal(new Set(heard.updates.map(({ id }) => id)).size, 8)
})

t.test('sealed content is returned unchanged, byte for byte [N4]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const heard = listen(await ada.connect())
  const texts = ['', '\0', '\u202eabc', 'e\u0301 é', '🔐👩‍💻', '"\\\u2028\u2029', ' \r\n\t ', 'x'.repeat(100_000)]
  await ada.send(session, ...texts.map((content, number) => ({ localId: `${number}`, content })))
  const { body } = await read(ada, session)
  t.same(
    body.messages.map((message: Untyped) => message.content.c),
    texts
  )
  await heard.settled()
  t.same(
    heard.bodies('new-message').map(({ message }) => message.content.c),
    texts
  )
})

t.test('concurrent writers to one session leave no gap, and a reader who follows misses nothing [O1]', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const session = await ada.openSession()
  const sockets = [await ada.connect(), await ada.connect()]
  const heard = listen(await ada.connect())
  let isWriting = true
  const writing = Promise.all([
    ...Array.from({ length: 4 }, async (_, writer) => {
      for (let round = 0; round < 15; round += 1) {
        const drafts = Array.from({ length: 1 + (round % 4) }, (_, at) => ({ localId: `${writer}.${round}.${at}` }))
        await ada.send(session, ...drafts)
        if (round % 3 === 0) await ada.send(session, ...drafts)
      }
    }),
    ...sockets.map(async (socket, writer) => {
      for (let round = 0; round < 40; round += 1) socket.emit('message', { sid: session, message: 'x', localId: `s${writer}.${round}` })
      await socket.emitWithAck('ping')
    })
  ]).then(() => {
    isWriting = false
  })
  const seen: number[] = []
  for (let isLast = false; !isLast; ) {
    isLast = !isWriting
    const { body } = await read(ada, session, `?after_seq=${seen.at(-1) ?? 0}&limit=${1 + (seen.length % 7)}`)
    seen.push(...seqs(body))
    if (isLast && body.hasMore) isLast = false
  }
  await writing
  const expected = Array.from({ length: 4 * 36 + 80 }, (_, index) => index + 1)
  t.same(seen, expected)
  await heard.settled()
  t.same(
    heard.bodies('new-message').map(({ message }) => message.seq),
    expected,
    'live, too [O4]'
  )
})
