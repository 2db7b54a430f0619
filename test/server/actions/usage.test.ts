import t from 'tap'
import { next, type Person, signUp } from '../../kit/person.ts'
import { startServer } from '../../kit/server.ts'
import { listen } from '../heard.ts'

const hour = 3600
/** A day's first second. */
const day = 1_699_920_000
const tokens = { total: 10, input: 4, output: 6, cache_creation: 0, cache_read: 0 }
const cost = { total: 0.5, input: 0.25, output: 0.25 }
const query = (person: Person, body: object = {}) => person.call('POST', '/v1/usage/query', { body })

t.test('a report is acknowledged, sent to apps, and replaced by the next with its key', async t => {
  let now = day * 1000
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const sessionId = await ada.openSession()
  const process = await ada.connect({ clientType: 'session-scoped', sessionId })
  const own = listen(process)
  const told = next(await ada.connect(), 'ephemeral')
  const first = await process.emitWithAck('usage-report', { key: 'claude', sessionId, tokens, cost })
  t.match(first, { success: true, reportId: /^[a-z2-7]{24}$/, createdAt: now, updatedAt: now })
  t.same(await told, { type: 'usage', id: sessionId, key: 'claude', timestamp: now, tokens, cost })
  now += 5
  const more = { ...tokens, total: 30 }
  t.same(await process.emitWithAck('usage-report', { key: 'claude', sessionId, tokens: more, cost }), { ...first, updatedAt: now })
  t.same((await query(ada)).body.usage, [{ timestamp: day, tokens: more, cost, reportCount: 1 }])
  await own.settled()
  t.same(own.ephemerals, [], 'the session itself is not told')
})

t.test('a report without a session counts and is sent to no one', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const socket = await ada.connect()
  const heard = listen(socket)
  t.match(await socket.emitWithAck('usage-report', { key: 'k', tokens: { total: 1 }, cost: { total: 0 } }), { success: true })
  await heard.settled()
  t.same(heard.ephemerals, [])
  t.equal((await query(ada)).body.totalReports, 1)
})

t.test('usage is summed by day or hour, of one session or all, between seconds [A.8]', async t => {
  let now = day * 1000
  const server = await startServer(t, { now: () => now })
  const ada = await signUp(t, server)
  const sessions = [await ada.openSession(), await ada.openSession()]
  const socket = await ada.connect()
  for (const [at, key] of [
    [day + 10, 'a'],
    [day + hour, 'b'],
    [day + 24 * hour, 'c']
  ] as const) {
    now = at * 1000
    for (const sessionId of sessions)
      await socket.emitWithAck('usage-report', { key, sessionId, tokens: { total: 2, input: 1 }, cost: { total: 0.5 } })
  }
  const bucket = (timestamp: number, count: number) => ({
    timestamp,
    tokens: { total: 2 * count, input: count },
    cost: { total: 0.5 * count },
    reportCount: count
  })
  t.same(await query(ada), {
    status: 200,
    body: { usage: [bucket(day, 4), bucket(day + 24 * hour, 2)], groupBy: 'day', totalReports: 6 }
  })
  t.same((await query(ada, { groupBy: 'hour', sessionId: sessions[0] })).body, {
    usage: [bucket(day, 1), bucket(day + hour, 1), bucket(day + 24 * hour, 1)],
    groupBy: 'hour',
    totalReports: 3
  })
  t.same((await query(ada, { startTime: day + 11, endTime: day + hour })).body.usage, [bucket(day, 2)])
  t.same((await query(ada, { startTime: day + 48 * hour, sessionId: null })).body, { usage: [], groupBy: 'day', totalReports: 0 })
  t.same(await query(ada, { sessionId: 'unknown' }), { status: 404, body: { error: 'Session not found' } })
  for (const body of [{ groupBy: 'week' }, { startTime: -1 }, { endTime: 'now' }]) t.equal((await query(ada, body)).status, 400)
})

t.test('a report without key or total, or of an unknown session, is rejected', async t => {
  const server = await startServer(t)
  const ada = await signUp(t, server)
  const socket = await ada.connect()
  const report = { key: 'k', tokens: { total: 1 }, cost: { total: 1 } }
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`n${index}`, 1]))
  for (const bad of [{ key: '' }, { tokens: { input: 1 } }, { cost: {} }, { tokens: { total: 'x' } }, { tokens: { total: 1, ...many } }]) {
    t.same(await socket.emitWithAck('usage-report', { ...report, ...bad }), { success: false, error: 'Invalid parameters' })
  }
  t.same(await socket.emitWithAck('usage-report', { ...report, sessionId: 'unknown' }), { success: false, error: 'Session not found' })
  t.equal((await query(ada)).body.totalReports, 0)
})
