import t, { type Test } from 'tap'
import { claimedForMs } from '../../../lib/server/chores/claim.ts'
import { LeftoverSweep } from '../../../lib/server/chores/leftover-sweep.ts'
import type { Store } from '../../../lib/store/store.ts'
import { manualClock } from '../../kit/manual-clock.ts'

const settled = () => new Promise(setImmediate)

/** A sweep of a store where this much is left; each piece takes `takesMs`. */
function openWorld(t: Test, { left = 0, takesMs = 0 } = {}) {
  const clock = manualClock()
  const state = { left, isClaimed: true, mayRemove: true, error: undefined as Error | undefined }
  const swept: number[] = []
  const claims: string[] = []
  const errors: unknown[] = []
  const store: Partial<Store> = {
    async sweepLeftovers(now) {
      swept.push(now)
      clock.advance(takesMs)
      if (state.error) throw state.error
      state.left -= 1
      return state.left > 0 ? 'more' : 'done'
    }
  }
  const sweep = new LeftoverSweep({
    ...{
      store: store as Store,
      time: () => 1_000,
      clock,
      mayRemove: () => state.mayRemove,
      onError: (error: unknown) => errors.push(error)
    },
    async claim(work) {
      claims.push(work)
      return state.isClaimed
    }
  })
  t.teardown(() => sweep.close())
  return { clock, state, swept, claims, errors, sweep }
}

t.test('what the previous server left is swept at the start, with a rest twice as long after each piece', async t => {
  const { clock, swept, claims } = openWorld(t, { left: 3, takesMs: 10 })
  await settled()
  t.equal(swept.length, 1)
  clock.advance(19)
  await settled()
  t.equal(swept.length, 1)
  clock.advance(1)
  await settled()
  t.equal(swept.length, 2)
  clock.advance(20)
  await settled()
  t.equal(swept.length, 3)
  clock.advance(1_000)
  await settled()
  t.equal(swept.length, 3, 'there is nothing more')
  t.same(new Set(claims), new Set(['sweep-leftovers']))
})

t.test('a sweep is repeated every ten minutes, and once when asked for, however often', async t => {
  const { clock, swept, sweep } = openWorld(t)
  await settled()
  t.equal(swept.length, 1)
  sweep.soon()
  sweep.soon()
  await settled()
  t.equal(swept.length, 2)
  clock.advance(10 * 60_000 - 1)
  await settled()
  t.equal(swept.length, 2)
  clock.advance(1)
  await settled()
  t.equal(swept.length, 3)
})

t.test('what is asked for during a sweep is swept after it', async t => {
  const { clock, state, swept, sweep } = openWorld(t, { left: 2, takesMs: 10 })
  await settled()
  sweep.soon()
  state.left = 1
  clock.advance(20)
  await settled()
  t.equal(swept.length, 3)
})

t.test('uploads expire only while the clock is reliable', async t => {
  const { state, swept, sweep } = openWorld(t)
  state.mayRemove = false
  await settled()
  sweep.soon()
  state.mayRemove = true
  await settled()
  t.same(swept, [0, 1_000])
})

t.test('while another instance sweeps this one waits, and looks again afterwards', async t => {
  const { clock, state, swept, claims } = openWorld(t)
  state.isClaimed = false
  await settled()
  t.same([swept.length, claims.length], [0, 1])
  state.isClaimed = true
  clock.advance(claimedForMs - 1)
  await settled()
  t.equal(claims.length, 1)
  clock.advance(1)
  await settled()
  t.same([swept.length, claims.length], [1, 2])
})

t.test('a failure is reported, and the next sweep tries again', async t => {
  const { state, swept, errors, sweep } = openWorld(t)
  state.error = new Error('The disk is full.')
  await settled()
  t.same(errors, [state.error])
  state.error = undefined
  sweep.soon()
  await settled()
  t.equal(swept.length, 2)
})

t.test('closing ends a rest at once, sweeps no more, and leaves no timer', async t => {
  const { clock, swept, sweep } = openWorld(t, { left: 9, takesMs: 10 })
  await settled()
  await sweep.close()
  t.equal(swept.length, 1)
  t.equal(clock.pending, 0)
  sweep.soon()
  await settled()
  t.equal(swept.length, 1)
})
