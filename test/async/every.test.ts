import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { every } from '../../lib/async/every.ts'
import { manualClock } from '../kit/manual-clock.ts'

t.test('it runs after each wait, and not before the first', async t => {
  const clock = manualClock()
  let runs = 0
  every(clock, 1000, () => (runs += 1), t.error)
  t.equal(runs, 0)
  clock.advance(999)
  t.equal(runs, 0)
  clock.advance(2001)
  t.equal(runs, 3)
})

t.test('the next wait begins when the run ends', async t => {
  const clock = manualClock()
  const { promise, resolve } = Promise.withResolvers<void>()
  let runs = 0
  every(
    clock,
    1000,
    () => {
      runs += 1
      return promise
    },
    t.error
  )
  clock.advance(5000)
  t.equal(runs, 1, 'it is still under way')
  resolve()
  await setImmediate()
  clock.advance(999)
  t.equal(runs, 1)
  clock.advance(1)
  t.equal(runs, 2)
})

t.test('a failed run, sync or async, is reported and followed by the next', async t => {
  const clock = manualClock()
  const errors: unknown[] = []
  const results = [
    () => {
      throw new Error('at once')
    },
    () => Promise.reject(new Error('later'))
  ]
  let runs = 0
  every(
    clock,
    1000,
    () => results[runs++]?.(),
    error => errors.push((error as Error).message)
  )
  for (let waits = 0; waits < 3; waits += 1) {
    clock.advance(1000)
    await setImmediate()
  }
  t.same(errors, ['at once', 'later'])
  t.equal(runs, 3)
})

t.test('closing waits for the current run, and no other follows', async t => {
  const clock = manualClock()
  const { promise, resolve } = Promise.withResolvers<void>()
  let runs = 0
  const repeating = every(
    clock,
    1000,
    () => {
      runs += 1
      return promise
    },
    t.error
  )
  clock.advance(1000)
  let isClosed = false
  const closed = repeating.close().then(() => {
    isClosed = true
  })
  await setImmediate()
  t.notOk(isClosed)
  resolve()
  await closed
  t.equal(clock.pending, 0)
  clock.advance(10_000)
  t.equal(runs, 1)
})

t.test('closing during a wait leaves no timer', async t => {
  const clock = manualClock()
  const repeating = every(clock, 1000, () => t.fail('it was closed before its first run'), t.error)
  await repeating.close()
  t.equal(clock.pending, 0)
  clock.advance(10_000)
})

t.test('a run may close its own repetition', async t => {
  const clock = manualClock()
  let runs = 0
  const repeating = every(
    clock,
    1000,
    () => {
      runs += 1
      repeating.close()
    },
    t.error
  )
  clock.advance(5000)
  t.equal(runs, 1)
})
