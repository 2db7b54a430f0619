import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { pageGlobals } from '../kit/page-globals.ts'

const page = pageGlobals(t)
const { checkClock, clockOff, now, startClock, trueNow } = await import('../../../web/core/clock.ts')
const { noteLink } = await import('../../../web/core/connection.ts')

const minuteMs = 60_000
const start = Date.UTC(2030, 0, 1)

/** A server whose clock is this far behind that of the device; its answers take a while. */
function server(t: Test) {
  mock.timers.enable({ apis: ['Date', 'setInterval'], now: start })
  t.teardown(() => mock.timers.reset())
  const state = { behindMs: 0, tookMs: 0, isThere: true, date: undefined as string | undefined, asked: [] as unknown[] }
  let elapsed = 0
  t.intercept(performance, 'now', { value: () => elapsed })
  t.intercept(globalThis, 'fetch', {
    async value(url: string, init: object) {
      state.asked.push([url, init])
      if (!state.isThere) throw new Error('no network')
      elapsed += state.tookMs
      return new Response(null, { headers: { date: state.date ?? new Date(Date.now() - state.behindMs).toUTCString() } })
    }
  })
  return state
}

/** Resolves once a check that was just started is over. */
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

t.test('a clock that is off by two minutes or more is corrected by that of the server [C1]', async t => {
  const at = server(t)
  const rows = [
    [0, 0],
    [2 * minuteMs - 1000, 0],
    [2 * minuteMs, 2 * minuteMs],
    [-2 * minuteMs + 1000, 0],
    [-3 * minuteMs, -3 * minuteMs]
  ] as const
  for (const [behindMs, expected] of rows) {
    at.behindMs = 0
    await checkClock()
    t.equal(clockOff.value, 0)
    at.behindMs = behindMs
    await checkClock()
    t.same([clockOff.value, trueNow()], [expected, start - expected], `${behindMs}`)
    if (expected !== 0) t.equal(now.value, start - expected, 'ages are counted from there')
  }
  t.same(at.asked[0], ['/health', { method: 'HEAD' }])
})

t.test('half of the time that the answer took is not counted as a difference', async t => {
  const at = server(t)
  at.behindMs = 10 * minuteMs
  at.tookMs = 8000
  await checkClock()
  t.equal(clockOff.value, 10 * minuteMs - 4000)
  at.behindMs = 0
  at.tookMs = 10_000
  await checkClock()
  t.equal(clockOff.value, 0)
})

t.test('without an answer in time, or without a date in it, the known difference stays', async t => {
  const at = server(t)
  at.behindMs = 10 * minuteMs
  await checkClock()
  at.behindMs = 0
  for (const broken of [{ isThere: false }, { tookMs: 10_001 }, { date: 'no date' }]) {
    Object.assign(at, broken)
    await checkClock()
    t.equal(clockOff.value, 10 * minuteMs, JSON.stringify(broken))
    Object.assign(at, { isThere: true, tookMs: 0, date: undefined })
  }
})

t.test('a small change of a known difference moves nothing on the screen', async t => {
  const at = server(t)
  at.behindMs = 10 * minuteMs
  await checkClock()
  at.behindMs = 11 * minuteMs
  await checkClock()
  t.equal(clockOff.value, 10 * minuteMs)
  at.behindMs = 12 * minuteMs
  await checkClock()
  t.equal(clockOff.value, 12 * minuteMs)
})

t.test(
  'ages are renewed twice a minute and when the app is shown, never while it is hidden; only a wrong clock is checked again',
  async t => {
    const at = server(t)
    await checkClock()
    at.asked.length = 0
    startClock()
    noteLink({ isOnline: true, socket: 'connecting', feed: 'away' })
    t.same(at.asked, [])
    mock.timers.tick(30_000)
    t.equal(now.value, start + 30_000)
    page.show(false)
    mock.timers.tick(60_000)
    t.equal(now.value, start + 30_000)
    page.show(true)
    t.equal(now.value, start + 90_000)
    t.same(at.asked, [], 'the clock is right')

    at.behindMs = 10 * minuteMs
    noteLink({ socket: 'live', feed: 'live' })
    await turn()
    t.equal(at.asked.length, 1, 'each new connection checks it')
    t.equal(clockOff.value, 10 * minuteMs)
    at.behindMs = 0
    mock.timers.tick(30_000)
    await turn()
    t.equal(clockOff.value, 0, 'the person has corrected it')
    t.equal(now.value, Date.now())
  }
)
