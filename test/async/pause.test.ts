import t from 'tap'
import { systemClock } from '../../lib/async/clock.ts'
import { pause } from '../../lib/async/pause.ts'
import { manualClock } from '../kit/manual-clock.ts'

t.test('a pause lasts as long as requested', async t => {
  const clock = manualClock()
  let isOver = false
  const over = pause(500, { clock }).then(() => {
    isOver = true
  })
  clock.advance(499)
  await Promise.resolve()
  t.notOk(isOver)
  clock.advance(1)
  await over
})

t.test('an abort ends a pause at once and leaves no timer', async t => {
  const clock = manualClock()
  const outside = new AbortController()
  const over = pause(500, { clock, signal: outside.signal })
  outside.abort(new Error('closing'))
  await t.rejects(over, { message: 'closing' })
  t.equal(clock.pending, 0)
  await t.rejects(pause(500, { clock, signal: outside.signal }), { message: 'closing' })
  t.equal(clock.pending, 0)
})

t.test('a pause that is over no longer listens to its signal', async t => {
  const clock = manualClock()
  const listening = new Set<unknown>()
  const signal = Object.assign(new AbortController().signal, {
    addEventListener: (_event: string, listener: unknown) => void listening.add(listener),
    removeEventListener: (event: string, listener: unknown) => event === 'abort' && listening.delete(listener)
  })
  const over = pause(500, { clock, signal: signal as AbortSignal })
  t.equal(listening.size, 1)
  clock.advance(500)
  await over
  t.equal(listening.size, 0)
})

t.test('without a clock of its own a pause is one of the system', async t => {
  t.capture(systemClock, 'after', (ms: number, run: () => void) => {
    t.equal(ms, 7000)
    setImmediate(run)
    return () => {}
  })
  await pause(7000)
})
