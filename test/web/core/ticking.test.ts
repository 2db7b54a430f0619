import { mock } from 'node:test'
import t from 'tap'
import { inComponent } from '../kit/in-component.ts'
import { pageGlobals } from '../kit/page-globals.ts'

const page = pageGlobals(t)
const { useTicking } = await import('../../../web/core/ticking.ts')
const start = Date.UTC(2026, 4, 1)

t.test('parts that count follow the seconds while they are seen, and nothing ticks without them', async t => {
  mock.timers.enable({ apis: ['Date', 'setInterval'], now: start })
  t.teardown(() => mock.timers.reset())
  const counting = { first: true, second: false }
  const first = inComponent(t, () => useTicking(counting.first))
  const second = inComponent(t, () => useTicking(counting.second))
  const pass = (ms: number) => first.act(() => second.act(() => mock.timers.tick(ms)))
  const seen = () => [first, second].map(({ latest }) => (latest === 0 ? undefined : latest - start))
  await first.act(() => {})
  t.same(seen(), [0, undefined], 'one counts from now on')

  await pass(999)
  t.same(seen(), [0, undefined])
  await pass(1)
  t.same(seen(), [1_000, undefined])
  mock.timers.setTime(start + 1_500)
  counting.second = true
  second.again()
  await second.act(() => {})
  t.same(seen(), [1_500, 1_500], 'the other begins at once')

  page.show(false)
  await pass(3_000)
  t.same(seen(), [1_500, 1_500], 'nobody looks')
  page.show(true)
  await pass(1_000)
  t.equal(seen()[0], seen()[1])
  t.ok(Number(seen()[0]) >= 5_000)

  counting.first = false
  first.again()
  const before = Number(seen()[1])
  await pass(2_000)
  t.same(seen(), [undefined, before + 2_000], 'the other counts on')
  second.remove()
  let ticks = 0
  t.intercept(page.document, 'visibilityState', {
    get() {
      ticks++
      return 'visible'
    }
  })
  await pass(5_000)
  t.equal(ticks, 0)
  counting.first = true
  first.again()
  await pass(1_000)
  t.ok(ticks > 0, 'until another counts')
})
