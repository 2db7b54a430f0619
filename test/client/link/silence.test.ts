import t from 'tap'
import { watchSilence } from '../../../lib/client/link/silence.ts'
import { pingIntervalMs } from '../../../lib/protocol/wire/handshake.ts'
import { manualClock } from '../../kit/manual-clock.ts'

t.test('a connection from before sleep is dropped two seconds after the computer wakes', t => {
  const clock = manualClock()
  const wall = { ahead: 0 }
  const realNow = Date.now
  t.teardown(() => (Date.now = realNow))
  Date.now = () => 1_700_000_000_000 + clock.now() + wall.ahead
  const told: string[] = []
  const watch = watchSilence({ clock, ask: () => told.push('asked'), onDead: () => told.push('dead') })
  clock.advance(10_000)
  watch.heard()
  clock.advance(4_000)
  t.same(told, [], 'awake and not quiet for long')
  // While it sleeps the clock of the timers stands still.
  wall.ahead = 600_000
  clock.advance(2_000)
  t.same(told, ['dead'])
  clock.advance(60_000)
  t.same(told, ['dead'], 'and that once')
  t.end()
})

t.test('a connection that is quiet for too long is probed, and closed when nothing comes', t => {
  const clock = manualClock()
  const realNow = Date.now
  t.teardown(() => (Date.now = realNow))
  Date.now = () => 1_700_000_000_000 + clock.now()
  const told: string[] = []
  const watch = watchSilence({ clock, ask: () => told.push('asked'), onDead: () => told.push('dead') })
  clock.advance(pingIntervalMs + 7_000)
  t.same(told, ['asked'])
  watch.heard()
  clock.advance(6_000)
  t.same(told, ['asked'])
  clock.advance(pingIntervalMs + 12_000)
  t.same(told, ['asked', 'asked', 'dead'])
  t.end()
})

t.test('a probe on request has five seconds, and a stopped watch says nothing more', t => {
  const clock = manualClock()
  t.intercept(Date, 'now', { value: () => 1_700_000_000_000 + clock.now() })
  const told: string[] = []
  const watch = watchSilence({ clock, ask: () => told.push('asked'), onDead: () => told.push('dead') })
  t.equal(watch.isTooLong(), false)
  clock.advance(1_000)
  watch.heard()
  t.equal(watch.heardAt, 1_700_000_001_000)
  watch.probe()
  t.same(told, ['asked'])
  clock.advance(4_999)
  t.same(told, ['asked'])
  clock.advance(1)
  t.same(told, ['asked', 'dead'])

  const stopped = watchSilence({ clock, ask: () => told.push('asked again'), onDead: () => told.push('dead again') })
  stopped.probe()
  stopped.stop()
  clock.advance(pingIntervalMs * 3)
  t.same(told, ['asked', 'dead', 'asked again'])
  t.equal(clock.pending, 0)
  t.equal(stopped.isTooLong(), true)
  t.end()
})

t.test('a silence is too long exactly five seconds after the next sign was due', t => {
  const clock = manualClock()
  t.intercept(Date, 'now', { value: () => 1_700_000_000_000 })
  const watch = watchSilence({ clock, ask() {}, onDead() {} })
  clock.advance(pingIntervalMs + 4_999)
  t.equal(watch.isTooLong(), false)
  clock.advance(1)
  t.equal(watch.isTooLong(), true)
  watch.stop()
  t.end()
})
