import t from 'tap'
import { createBackoff } from '../../lib/async/backoff.ts'

t.test('waits double from the first to the longest, and start over after a success', async t => {
  const backoff = createBackoff({ firstMs: 100, longestMs: 1000, random: () => 1 })
  const waits = () => Array.from({ length: 6 }, () => backoff.nextMs())

  t.same(waits(), [100, 200, 400, 800, 1000, 1000])
  backoff.reset()
  t.same(waits(), [100, 200, 400, 800, 1000, 1000])
})

t.test('a wait can be anything between zero and the bound, so that lost clients do not return together [S5]', async t => {
  const draws = [0, 0.25, 0.5]
  const backoff = createBackoff({ firstMs: 100, longestMs: 1000, random: () => draws.shift() ?? 0 })

  t.same([backoff.nextMs(), backoff.nextMs(), backoff.nextMs()], [0, 50, 200])
})

t.test('the wait stays finite, however many attempts fail', async t => {
  const backoff = createBackoff({ firstMs: 100, longestMs: 30_000 })
  for (let attempt = 0; attempt < 5000; attempt++) {
    const waitMs = backoff.nextMs()
    if (!(waitMs >= 0 && waitMs <= 30_000)) t.fail(`attempt ${attempt} would wait ${waitMs} ms`)
  }
})
