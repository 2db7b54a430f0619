import t from 'tap'
import { Maintenance } from '../../../lib/server/chores/maintenance.ts'
import type { Logger } from '../../../lib/server/watch/log.ts'
import type { Soundness } from '../../../lib/store/safekeeping.ts'
import { manualClock } from '../../kit/manual-clock.ts'

t.test('the store is checked every second, and each change is reported once [F1] [F5]', async t => {
  const { clock, said, so, scrubs, maintenance } = setUp()
  for (const next of [{}, { isFull: true }, { isFull: true, damaged: 2 }, { damaged: 2 }, { damaged: 2 }]) {
    Object.assign(so, { isFull: false, damaged: 0 }, next)
    clock.advance(1_000)
    await settled()
  }
  t.equal(scrubs(), 5)
  t.match(said, [/disk is full/, /damaged/, /space again/])
  await maintenance.close()
  clock.advance(10_000)
  await settled()
  t.equal(scrubs(), 5)
  t.equal(clock.pending, 0)
})

t.test('after comparing all rows the scrub pauses for an hour [F5]', async () => {
  const { clock, scrubs, endRound, maintenance } = setUp()
  endRound()
  for (let second = 0; second < 3600; second++) {
    clock.advance(1_000)
    await settled()
  }
  t.equal(scrubs(), 1)
  clock.advance(1_000)
  await settled()
  t.equal(scrubs(), 2)
  await maintenance.close()
})

t.test('a store that fails meanwhile stops neither the server nor the checks', async t => {
  const { clock, failWith, scrubs, maintenance } = setUp()
  failWith(new Error('the store is closed'))
  clock.advance(1_000)
  await settled()
  clock.advance(1_000)
  await settled()
  t.equal(scrubs(), 2)
  await maintenance.close()
})

function setUp() {
  const clock = manualClock()
  const so: Soundness = { scrubbed: 0, rounds: 0, damaged: 0, isFull: false, logBytes: 0, logMovedAt: 0 }
  const said: string[] = []
  const say = (_fields: object, message: string) => void said.push(message)
  const log: Logger = { error: say, warn: say, info: say, debug() {}, isLevelEnabled: () => true }
  let scrubs = 0
  let failure: Error | undefined
  let isLast = false
  const store = {
    makeRoom: async () => {},
    soundness: () => ({ ...so }),
    async scrub() {
      scrubs++
      if (failure) throw failure
      if (isLast) so.rounds++
    }
  }
  return {
    clock,
    so,
    said,
    scrubs: () => scrubs,
    failWith: (error: Error) => (failure = error),
    endRound: () => {
      isLast = true
    },
    maintenance: new Maintenance({ store, clock, now: clock.now, log })
  }
}

function settled(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
