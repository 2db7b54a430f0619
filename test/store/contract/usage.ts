import type { SessionId } from '../../../lib/protocol/wire/ids.ts'
import { mostListBytes } from '../../../lib/store/list-size.ts'
import type { Check } from '../../contracts/check.ts'
import { found, newAccount, newSession, openFor, type StorePlace, sessionId } from './kit.ts'

const hour = 3_600_000
const report = (session: SessionId | null, key: string, now: number, total: number) => ({
  id: `${key} at ${now}`,
  key,
  session,
  tokens: { total, input: total },
  cost: { total: total / 4 },
  now
})
const everything = { session: null, from: 0, to: 1e15, bucketMs: hour }

export function usageContract(t: Check, place: StorePlace): void {
  t.test('a report replaces the one with the same session and key, and keeps its id and creation time', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    for (const whose of [session, null]) {
      const name = whose === null ? 'none' : 'one'
      t.same(await store.putUsageReport(ann, report(whose, name, 10, 4)), { id: `${name} at 10`, createdAt: 10, updatedAt: 10 })
      t.same(await store.putUsageReport(ann, report(whose, name, 20, 8)), { id: `${name} at 10`, createdAt: 10, updatedAt: 20 })
    }
    t.same(await store.readUsage(ann, everything), [{ at: 0, tokens: { total: 16, input: 16 }, cost: { total: 4 }, reports: 2 }])
  })

  t.test('reports are summed by name in buckets, within the given times, in order', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    await store.putUsageReport(ann, report(session, 'a', 3 * hour, 4))
    await store.putUsageReport(ann, report(session, 'b', hour + 1, 8))
    await store.putUsageReport(ann, { ...report(null, 'c', 2 * hour - 1, 0), tokens: { total: 1, cached: 2 }, cost: { total: 0.5 } })
    const second = { at: hour, tokens: { total: 9, input: 8, cached: 2 }, cost: { total: 2.5 }, reports: 2 }
    const fourth = { at: 3 * hour, tokens: { total: 4, input: 4 }, cost: { total: 1 }, reports: 1 }
    t.same(await store.readUsage(ann, everything), [second, fourth])
    t.same(await store.readUsage(ann, { ...everything, from: 3 * hour }), [fourth])
    t.same(await store.readUsage(ann, { ...everything, to: 3 * hour }), [second, fourth])
    t.same(await store.readUsage(ann, { ...everything, to: 3 * hour - 1 }), [second])
    t.match(await store.readUsage(ann, { ...everything, bucketMs: 24 * hour }), [{ at: 0, tokens: { total: 13 }, reports: 3 }])
    t.match(await store.readUsage(ann, { ...everything, session }), [
      { at: hour, tokens: { total: 8 }, reports: 1 },
      { at: 3 * hour, reports: 1 }
    ])
    await store.remove(ann, { of: 'session', id: session })
    t.match(await store.readUsage(ann, everything), [{ at: hour, tokens: { total: 1 }, reports: 1 }])
    t.equal(await store.readUsage(ann, { ...everything, session }), 'missing')
  })

  t.test('many reports are summed in pieces, each once, while others continue, and one account at a time [B3]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const session = await newSession(store, ann)
    const reports = Array.from({ length: 1_000 }, (_, number) => report(number % 2 === 0 ? session : null, `${number}`, number % 7, 4))
    await Promise.all(reports.map(each => store.putUsageReport(ann, each)))
    let turns = 0
    let isOver = false
    const turn = () => {
      turns += 1
      if (!isOver) setImmediate(turn)
    }
    setImmediate(turn)
    const order: string[] = []
    const [all, ofSession] = await Promise.all([
      store.readUsage(ann, everything).finally(() => order.push('all')),
      store.readUsage(ann, { ...everything, session, from: 1, to: 3 }).finally(() => order.push('session'))
    ])
    isOver = true
    const sums = (reports: number) => [{ at: 0, tokens: { total: 4 * reports, input: 4 * reports }, cost: { total: reports }, reports }]
    t.same(all, sums(1_000))
    t.same(ofSession, sums(reports.filter(({ session: of, now }) => of === session && now >= 1 && now <= 3).length))
    t.same(order, ['all', 'session'])
    t.ok(turns >= 4, `${turns} turns`)
  })

  t.test('sums of too many or too long names end early, as other lists do [B6]', async t => {
    const store = await openFor(t, place)
    const ann = await newAccount(store, 'ann')
    const long = 'x'.repeat(mostListBytes)
    await store.putUsageReport(ann, { ...report(null, 'long', 0, 1), tokens: { [long]: 1 } })
    await Promise.all(Array.from({ length: 999 }, (_, number) => store.putUsageReport(ann, report(null, `${number}`, 1, 4))))
    const [sums] = found(await store.readUsage(ann, everything))
    t.equal(sums?.tokens[long], 1)
    t.ok((sums?.reports ?? 1_000) < 1_000, `${sums?.reports} reports`)
  })

  t.test('a session of another account is missing, and the same key is another report [I1] [I3]', async t => {
    const store = await openFor(t, place)
    const [ann, eve] = [await newAccount(store, 'ann'), await newAccount(store, 'eve')]
    const session = await newSession(store, ann)
    await store.putUsageReport(ann, report(session, 'a', 1, 4))
    await store.putUsageReport(ann, report(null, 'a', 1, 4))
    const before = await store.readUsage(ann, everything)
    for (const id of [session, sessionId('nowhere')]) {
      t.equal(await store.putUsageReport(eve, report(id, 'a', 1, 400)), 'missing')
      t.equal(await store.readUsage(eve, { ...everything, session: id }), 'missing')
    }
    t.same(await store.readUsage(eve, everything), [])
    await store.putUsageReport(eve, report(null, 'a', 1, 400))
    t.same(await store.readUsage(ann, everything), before)
    t.match(await store.readUsage(eve, everything), [{ tokens: { total: 400 }, reports: 1 }])
  })
}
