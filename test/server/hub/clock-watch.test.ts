import { setImmediate as turnEnds } from 'node:timers/promises'
import t from 'tap'
import * as ids from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { lookEveryMs, watchClocks } from '../../../lib/server/hub/clock-watch.ts'
import { HeardClock } from '../../../lib/server/hub/heard-clock.ts'
import { StoreBusy } from '../../../lib/store/store.ts'
import { manualClock } from '../../kit/manual-clock.ts'

t.test('many accounts are asked for in several queries, one after the other, and no account is forgotten [M2]', async t => {
  const clock = manualClock()
  const accounts = Array.from({ length: 2_500 }, (_, at) => {
    const heard = new HeardClock()
    heard.readTo(1)
    return { id: v.parse(ids.accountId, `account ${at}`), heard }
  })
  const queries: number[] = []
  let running = 0
  const missed = new Set<string>()
  const watch = watchClocks({
    store: {
      async readClocks(asked) {
        running += 1
        t.equal(running, 1)
        queries.push(asked.length)
        await turnEnds()
        running -= 1
        return new Map(asked.map(id => [id, 2]))
      }
    },
    clock,
    accounts: () => accounts,
    onMissed: ({ id }) => missed.add(id),
    onError: error => t.error(error)
  })
  t.teardown(() => watch.close())
  for (let looks = 0; looks < 2; looks += 1) {
    clock.advance(lookEveryMs)
    while (clock.pending === 0) await turnEnds()
  }
  t.same(queries, [1_000, 1_000, 500, 1_000, 1_000, 500])
  t.equal(missed.size, 2_500)
})

t.test('without connected accounts nothing is asked', async t => {
  const clock = manualClock()
  const readClocks = async () => {
    throw new Error('nobody is connected')
  }
  const watch = watchClocks({ store: { readClocks }, clock, accounts: () => [], onMissed: () => {}, onError: error => t.error(error) })
  t.teardown(() => watch.close())
  clock.advance(lookEveryMs)
  while (clock.pending === 0) await turnEnds()
})

t.test('a database that is away is asked again, and only other errors are reported', async t => {
  const clock = manualClock()
  const errors: unknown[] = []
  const failures = [new StoreBusy('away'), new Error('a bug')]
  const heard = new HeardClock()
  heard.readTo(1)
  let missed = 0
  const watch = watchClocks({
    store: {
      async readClocks(asked) {
        const failure = failures.shift()
        if (failure) throw failure
        return new Map(asked.map(id => [id, 2]))
      }
    },
    clock,
    accounts: () => [{ id: v.parse(ids.accountId, 'ada'), heard }],
    onMissed() {
      missed += 1
    },
    onError: error => errors.push(error)
  })
  t.teardown(() => watch.close())
  for (let looks = 0; looks < 4; looks += 1) {
    clock.advance(lookEveryMs)
    while (clock.pending === 0) await turnEnds()
  }
  t.match(errors, [{ message: 'a bug' }])
  t.equal(errors.length, 1)
  t.equal(missed, 1)
})
