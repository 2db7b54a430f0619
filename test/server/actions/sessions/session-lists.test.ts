import t from 'tap'
import { type Person, signUp } from '../../../kit/person.ts'
import { startServer } from '../../../kit/server.ts'

const start = 1_700_000_000_000
const minute = 60_000
const idsOf = (body: { sessions: { id: string }[] }) => body.sessions.map(({ id }) => id)
const page = (person: Person, query: string) => person.call('GET', `/v2/sessions${query}`)

t.test('active sessions are those alive within the last 15 minutes, latest first', async t => {
  let now = start
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const ids: string[] = []
  for (let count = 0; count < 3; count += 1) {
    ids.push(await ada.openSession())
    now += 5 * minute
  }
  const [first = '', second = '', third = ''] = ids
  t.same(idsOf((await ada.call('GET', '/v2/sessions/active')).body), [third, second], 'the first was last alive 15 minutes ago')
  t.same(idsOf((await ada.call('GET', '/v2/sessions/active?limit=1')).body), [third])
  await ada.call('POST', `/v1/sessions/${third}/archive`)
  const { status, body } = await ada.call('GET', '/v2/sessions/active')
  t.equal(status, 200)
  const { lastMessage, ...record } = (await ada.call('GET', '/v1/sessions')).body.sessions.find(({ id }: { id: string }) => id === second)
  t.same(body, { sessions: [record] })
  t.not(first, second)
  for (const limit of ['0', '501', 'x']) t.equal((await ada.call('GET', `/v2/sessions/active?limit=${limit}`)).status, 400)
})

t.test('all sessions are paged by id, descending, without a gap or a repeat', async t => {
  let now = start
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const ids: string[] = []
  for (let count = 0; count < 7; count += 1) ids.push(await ada.openSession())
  const sorted = ids.toSorted().toReversed()
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { body } = await page(ada, `?limit=3${cursor}`)
    t.equal(body.hasNext, body.nextCursor !== null)
    seen.push(...idsOf(body))
    now += 1
    await ada.send(ids[0] ?? '', { localId: `while paging ${now}` })
    if (!body.hasNext) break
    t.equal(body.nextCursor, `cursor_v1_${seen.at(-1)}`)
    cursor = `&cursor=${body.nextCursor}`
  }
  t.same(seen, sorted)
  t.same(idsOf((await page(ada, '')).body), sorted)
  t.same(idsOf((await page(ada, `?changedSince=${start}`)).body), [ids[0]])
  t.same((await page(ada, `?changedSince=${now}`)).body, { sessions: [], nextCursor: null, hasNext: false })
})

t.test('an invalid cursor is 400 with its own message, and one of a foreign session is treated like any other [I1]', async t => {
  const server = await startServer(t)
  const [ada, mallory] = [await signUp(t, server), await signUp(t, server)]
  const foreign = await ada.openSession()
  const refusal = { status: 400, body: { error: 'Invalid cursor format' } }
  for (const cursor of ['x', 'cursor_v2_abc', 'cursor_v1_', '']) t.same(await page(mallory, `?cursor=${cursor}`), refusal, cursor)
  t.same((await page(mallory, `?cursor=cursor_v1_${foreign}`)).body, { sessions: [], nextCursor: null, hasNext: false })
  t.same((await mallory.call('GET', '/v2/sessions/active')).body, { sessions: [] })
  for (const query of ['?limit=0', '?limit=201', '?changedSince=0', '?changedSince=x']) t.equal((await page(mallory, query)).status, 400)
})
