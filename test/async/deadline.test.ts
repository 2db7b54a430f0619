import t from 'tap'
import { systemClock } from '../../lib/async/clock.ts'
import { DeadlineExceeded, isDoneWithin, withDeadline } from '../../lib/async/deadline.ts'
import { manualClock } from '../kit/manual-clock.ts'

const never = new Promise<never>(() => {})

t.test('work finished in time resolves with its result and leaves no timer', async t => {
  const clock = manualClock()
  t.equal(await withDeadline(1000, async () => 'done', { clock }), 'done')
  t.equal(clock.pending, 0)
})

t.test('work that fails in time rejects with its error and leaves no timer', async t => {
  const clock = manualClock()
  const failing = (fail: () => Promise<void>) => t.rejects(withDeadline(1000, fail, { clock }), { message: 'broken' })
  await failing(() => Promise.reject(new Error('broken')))
  await failing(() => {
    throw new Error('broken')
  })
  t.equal(clock.pending, 0)
})

t.test('at the deadline the caller gets an error, even if the work ignores its signal', async t => {
  const clock = manualClock()
  let given: AbortSignal | undefined
  const outcome = withDeadline(
    1000,
    signal => {
      given = signal
      return never
    },
    { clock }
  )
  clock.advance(999)
  t.equal(given?.aborted, false)
  clock.advance(1)
  await t.rejects(outcome, { name: 'DeadlineExceeded', limitMs: 1000 })
  t.ok(given?.reason instanceof DeadlineExceeded)
})

t.test('an abort from outside ends the wait with its own reason and clears the timer', async t => {
  const clock = manualClock()
  const outside = new AbortController()
  let given: AbortSignal | undefined
  const outcome = withDeadline(
    1000,
    signal => {
      given = signal
      return never
    },
    { clock, signal: outside.signal }
  )
  const reason = new Error('closing')
  outside.abort(reason)
  await t.rejects(outcome, { message: 'closing' })
  t.equal(given?.reason, reason)
  t.equal(clock.pending, 0)
})

t.test('work does not start when the outer signal is already aborted', async t => {
  const clock = manualClock()
  const work = () => t.fail('begun')
  await t.rejects(
    withDeadline(1000, async () => work(), { clock, signal: AbortSignal.abort(new Error('closing')) }),
    { message: 'closing' }
  )
  t.equal(clock.pending, 0)
})

t.test('a failure after the deadline is not an unhandled rejection', async t => {
  const clock = manualClock()
  const late = Promise.withResolvers<never>()
  const outcome = withDeadline(1000, () => late.promise, { clock })
  clock.advance(1000)
  await t.rejects(outcome, { name: 'DeadlineExceeded' })
  late.reject(new Error('too late'))
  await new Promise(resolve => setImmediate(resolve)) // an unhandled rejection would fail this file here
})

t.test('the listener on the outer signal is removed with the work', async t => {
  const outside = new AbortController()
  let listening = 0
  const { signal } = outside
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listening++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listening--
    remove(...args)
  }
  await withDeadline(1000, async () => 'done', { clock: manualClock(), signal })
  t.equal(listening, 0)
})

t.test('whether work is done by its deadline is known as soon as it is, and no timer is left', async t => {
  const clock = manualClock()
  t.equal(await isDoneWithin(1000, Promise.resolve('done'), clock), true)
  t.equal(clock.pending, 0)
  const late = isDoneWithin(1000, never, clock)
  clock.advance(999)
  t.equal(clock.pending, 1)
  clock.advance(1)
  t.equal(await late, false)
  t.equal(clock.pending, 0)
  await t.rejects(isDoneWithin(1000, Promise.reject(new Error('broken')), clock), { message: 'broken' })
  t.equal(clock.pending, 0)
})

t.test('without a clock of its own a deadline runs by that of the system', async t => {
  const waits: number[] = []
  t.capture(systemClock, 'after', (ms: number, run: () => void) => {
    waits.push(ms)
    setImmediate(run)
    return () => {}
  })
  await t.rejects(
    withDeadline(1000, () => never),
    new DeadlineExceeded(1000)
  )
  t.equal(await isDoneWithin(2000, never), false)
  t.same(waits, [1000, 2000])
})
