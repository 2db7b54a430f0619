import t from 'tap'
import { accountTopic, type BusEvent } from '../../../lib/bus/bus.ts'
import { openLocalBus } from '../../../lib/bus/local.ts'
import { claimFor } from '../../../lib/server/chores/claim.ts'
import { Retention } from '../../../lib/server/chores/retention.ts'
import { openStore } from '../../../lib/store/open.ts'
import { manualClock } from '../../kit/manual-clock.ts'
import { draft, newAccount, newSession } from '../../store/contract/kit.ts'

const [hour, day] = [60 * 60 * 1000, 24 * 60 * 60 * 1000]

t.test('sessions that ended long ago are removed, and apps are notified; active and newer ones stay', async t => {
  const onError = (error: unknown) => t.error(error)
  const store = await openStore('sqlite:afield.db', { dataDirectory: t.testdir(), onBroken: onError })
  t.teardown(() => store.close())
  const ann = await newAccount(store, 'ann')
  const old = await Promise.all(Array.from({ length: 25 }, (_, index) => newSession(store, ann, `old ${index}`)))
  const [active, young] = [await newSession(store, ann, 'active'), await newSession(store, ann, 'young')]
  const ended = [...old, young].map(id => ({ account: ann, row: { of: 'session', id } as const, active: false, at: 1 }))
  await store.markActive(ended)
  await store.appendMessages(ann, young, [draft('still of use')], 20 * day)

  const bus = openLocalBus({ onError })
  const told: string[] = []
  const { promise: allTold, resolve: onAllTold } = Promise.withResolvers<void>()
  await bus.subscribe(accountTopic(ann), (event: BusEvent) => {
    if (event.type === 'change' && event.change.type === 'row-removed') told.push(event.change.row.id)
    if (told.length === old.length) onAllTold()
  })
  const clock = manualClock()
  let now = 29 * day
  let isBelieved = true
  const removed: number[] = []
  const log = { info: ({ count = 0 }) => void removed.push(count) }
  const sweepUntil = async (isOver: Promise<void>) => {
    const deps = {
      store,
      bus,
      clock,
      claim: claimFor({ store }, 'this one'),
      now: () => now,
      time: () => now,
      presence: { forget() {} },
      leftoverSweep: { soon() {} },
      log,
      mayRemove: () => isBelieved,
      onError
    }
    const retention = new Retention(deps, { keepSessionsDays: 30 })
    clock.advance(hour)
    await isOver
    await retention.close()
  }
  await sweepUntil(Promise.resolve())
  t.equal((await store.listSessions(ann, 100)).length, 27)
  t.same(told, [])

  now = 40 * day
  isBelieved = false
  await sweepUntil(Promise.resolve())
  t.equal((await store.listSessions(ann, 100)).length, 27, 'a time that may be wrong removes nothing')

  isBelieved = true
  await claimFor({ store }, 'this one')('remove-old-sessions', 0)
  t.ok(await claimFor({ store }, 'another')('remove-old-sessions'))
  await sweepUntil(Promise.resolve())
  t.equal((await store.listSessions(ann, 100)).length, 27, 'what another instance is doing is left to it')
  t.ok(await claimFor({ store }, 'another')('remove-old-sessions', 0))

  await sweepUntil(allTold)
  t.same((await store.listSessions(ann, 100)).map(({ id }) => id).toSorted(), [active, young].toSorted())
  t.same(told.toSorted(), old.toSorted())
  t.same(removed, [old.length], 'and the log says how many')
  t.equal(clock.pending, 0)
})
