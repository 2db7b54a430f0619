import t, { type Test } from 'tap'
import { Refused, Unreachable } from '../../../lib/client/link/refusals.ts'
import { createRetrier } from '../../../lib/client/link/retry.ts'
import { manualClock } from '../../kit/manual-clock.ts'

function retrier(t: Test) {
  const end = new AbortController()
  t.teardown(() => end.abort())
  const clock = manualClock()
  const waits: number[] = []
  const made = createRetrier({ signal: end.signal, clock, random: () => 1, longestMs: 4000, onWait: (_, ms) => waits.push(ms) })
  /** Work that never answers, and the signals of its attempts. */
  const signals: AbortSignal[] = []
  const silent = (signal: AbortSignal) => {
    signals.push(signal)
    return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
  }
  return { ...made, clock, end, waits, signals, silent }
}

const settled = async () => {
  for (let tasks = 0; tasks < 20; tasks++) await undefined
}

t.test('work that failed is done again after longer and longer waits, and from the start after it succeeded', async t => {
  const { attempt, clock, waits } = retrier(t)
  let tries = 0
  const failing = (times: number) => async () => {
    if (++tries <= times) throw new Unreachable('not-connected')
    return 'done'
  }
  const first = attempt(failing(5))
  for (const [at, waitMs] of [500, 1000, 2000, 4000, 4000].entries()) {
    await settled()
    t.equal(tries, at + 1)
    clock.advance(waitMs - 1)
    await settled()
    t.equal(tries, at + 1, 'not before the wait is over')
    clock.advance(1)
  }
  t.equal(await first, 'done')
  t.equal(clock.pending, 0)
  tries = 0
  const second = attempt(failing(1))
  await settled()
  t.equal(waits.at(-1), 500)
  clock.advance(500)
  t.equal(await second, 'done')
})

t.test('a wait is half a minute at most, unless another limit or the server says otherwise', async t => {
  const { signal } = new AbortController()
  const waits: number[] = []
  const clock = manualClock()
  let failures = 9
  const done = createRetrier({ signal, clock, random: () => 1, onWait: (_, ms) => waits.push(ms) }).attempt(async () => {
    if (failures-- > 0) throw new Unreachable('not-connected')
  })
  for (let waited = 0; waited < 9; waited++) {
    await settled()
    clock.advance(60_000)
  }
  await done
  t.equal(Math.max(...waits), 30_000)
})

t.test('what no repetition mends is thrown', async t => {
  const { attempt, waits } = retrier(t)
  await t.rejects(
    attempt(async () => {
      throw new Refused(400, 'bad')
    }),
    new Refused(400, 'bad')
  )
  t.same(waits, [])
})

t.test('after a restart the next attempts have less time, each more than the one before, until one succeeds', async t => {
  const { attempt, restart, clock, signals, silent } = retrier(t)
  const done = attempt(signal => (signals.length < 4 ? silent(signal) : Promise.resolve('done')))
  await settled()
  t.equal(signals.length, 1)
  clock.advance(60_000)
  await settled()
  t.equal(signals.length, 1, 'as such it has all the time')
  restart()
  for (const [at, ms] of [2000, 3000].entries()) {
    await settled()
    t.equal(signals.length, at + 2)
    clock.advance(ms - 1)
    t.equal(signals.at(-1)?.aborted, false)
    clock.advance(1)
    t.equal(signals.at(-1)?.aborted, true)
  }
  await settled()
  t.equal(signals.length, 4)
  clock.advance(6000)
  t.equal(await done, 'done')
})

t.test('an attempt within its time is not aborted later, and the next has all the time again', async t => {
  const { attempt, restart, clock, signals, silent } = retrier(t)
  const answering = (signal: AbortSignal) => {
    signals.push(signal)
    return Promise.resolve('done')
  }
  const done = attempt(signal => (signals.length === 0 ? silent(signal) : answering(signal)))
  await settled()
  restart()
  t.equal(await done, 'done')
  clock.advance(60_000)
  t.equal(signals[1]?.aborted, false)
  void attempt(silent).catch(() => {})
  await settled()
  clock.advance(60_000)
  t.equal(signals[2]?.aborted, false)
})

t.test('the end aborts an attempt, a wait, and whatever is attempted after it', async t => {
  const { attempt, end, signals, silent } = retrier(t)
  const running = attempt(silent)
  await settled()
  end.abort(new Error('over'))
  await t.rejects(running, { message: 'over' })
  t.equal(signals[0]?.aborted, true)
  await t.rejects(attempt(silent), { message: 'over' })

  const other = retrier(t)
  const waiting = other.attempt(async () => {
    throw new Unreachable('not-connected')
  })
  await settled()
  other.end.abort(new Error('over'))
  await t.rejects(waiting, { message: 'over' })
})

t.test('a restart ends a wait too', async t => {
  const { attempt, restart, waits } = retrier(t)
  const done = attempt(async () => {
    if (waits.length === 0) throw new Unreachable('not-connected')
    return 'done'
  })
  await settled()
  restart()
  t.equal(await done, 'done')
})

t.test('a wait is cut short on request', async t => {
  const { attempt, hurry, waits } = retrier(t)
  let tries = 0
  const done = attempt(async () => {
    if (tries++ === 0) throw new Unreachable('not-connected', { retryAfterMs: 90_000 })
    return 'done'
  })
  await settled()
  t.same(waits, [90_000], 'as long as the server asked for')
  hurry()
  t.equal(await done, 'done')
})
