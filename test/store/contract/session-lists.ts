import type { SessionId } from '../../../lib/protocol/wire/ids.ts'
import type { Check } from '../../contracts/check.ts'
import { draft, newAccount, openFor, type StorePlace, sealed, sessionId } from './kit.ts'

export function sessionListContract(t: Check, place: StorePlace): void {
  t.test("sessions with a recent keepalive are listed, latest first, and only the caller's own [I1]", async t => {
    const { store, ann, eve } = await withSessions(t, place)
    const mark = (id: string, at: number, active = true) =>
      store.markActive([{ account: ann, row: { of: 'session', id: sessionId(id) }, active, at }])
    for (const [id, at] of Object.entries({ a: 100, b: 300, c: 200, d: 50 })) await mark(id, at)
    await mark('e', 400, false)
    const listed = async (since: number, limit = 10) => (await store.listActiveSessions(ann, { since, limit })).map(({ id }) => String(id))
    t.same(await listed(50), ['b', 'c', 'a'])
    t.same(await listed(0, 2), ['b', 'c'])
    t.same(await listed(300), [])
    t.same(await store.listActiveSessions(eve, { since: 0, limit: 10 }), [])
  })

  t.test("sessions are paged by descending id despite concurrent changes, and only the caller's own [I1]", async t => {
    const { store, ann, eve } = await withSessions(t, place)
    const page = async (before: string | undefined, limit: number, changedSince = 0) => {
      const { sessions, more } = await store.pageSessions(ann, { before, changedSince, limit })
      return [sessions.map(({ id }) => String(id)).join(''), more]
    }
    t.same(await page(undefined, 2), ['ed', true])
    await store.appendMessages(ann, sessionId('b'), [draft('x')], 50)
    t.same(await page('d', 2), ['cb', true])
    t.same(await page('b', 2), ['a', false])
    t.same(await page('a', 2), ['', false])
    t.same(await page(undefined, 5), ['edcba', false])
    t.same(await page(undefined, 5, 1), ['b', false])
    t.same(await page(undefined, 5, 50), ['', false])
    t.same(await store.pageSessions(eve, { before: undefined, changedSince: 0, limit: 10 }), { sessions: [], more: false })
  })

  t.test('a page of huge rows ends early and says that there is more [B6]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const metadata = sealed('x'.repeat(9 * 1024 * 1024))
    for (const id of ['a', 'b', 'c']) {
      await store.openSession(ann, { id: sessionId(id), tag: id, metadata, agentState: null, dataKey: null, now: 1 })
    }
    t.equal((await store.listSessions(ann, 10)).length, 2)
    t.equal((await store.listActiveSessions(ann, { since: 0, limit: 10 })).length, 2)
    const { sessions, more } = await store.pageSessions(ann, { before: undefined, changedSince: 0, limit: 10 })
    t.same([sessions.map(({ id }) => id), more], [['c', 'b'], true])
    t.match(await store.pageSessions(ann, { before: 'b', changedSince: 0, limit: 10 }), { sessions: [{ id: 'a' }], more: false })
  })
}

async function withSessions(t: Check, place: StorePlace) {
  const store = await openFor(t, place)
  const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
  const open = (id: SessionId) => store.openSession(ann, { id, tag: id, metadata: sealed('m'), agentState: null, dataKey: null, now: 1 })
  for (const id of ['c', 'a', 'e', 'b', 'd']) await open(sessionId(id))
  return { store, ann, eve }
}
