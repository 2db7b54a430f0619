import t from 'tap'
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
