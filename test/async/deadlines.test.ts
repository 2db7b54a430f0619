import t from 'tap'
import { Deadlines } from '../../lib/async/deadlines.ts'
import { manualClock } from '../kit/manual-clock.ts'

function startDeadlines() {
  const clock = manualClock()
  const deadlines = new Deadlines(clock, 1_000)
  const ran: string[] = []
  const begin = (name: string) => {
    const run = () => void ran.push(`${name} at ${clock.now()}`)
    deadlines.begin(run)
    return run
  }
  return { clock, deadlines, ran, begin }
}

t.test('each runs once, at its own time', async t => {
  const { clock, ran, begin } = startDeadlines()
  begin('one')
  clock.advance(400)
  begin('two')
  clock.advance(5_000)
  begin('three')
  clock.advance(5_000)
  t.same(ran, ['one at 1000', 'two at 1400', 'three at 6400'])
})

t.test('a cancelled deadline does not fire, and later ones do not fire earlier', async t => {
  const { clock, deadlines, ran, begin } = startDeadlines()
  const one = begin('one')
  clock.advance(400)
  deadlines.end(one)
  begin('two')
  clock.advance(999)
  t.same(ran, [])
  clock.advance(1)
  t.same(ran, ['two at 1400'])
})

t.test('a deadline started during another gets its full time', async t => {
  const { clock, deadlines, ran, begin } = startDeadlines()
  deadlines.begin(() => begin('later'))
  clock.advance(5_000)
  t.same(ran, ['later at 2000'])
})

t.test('any number of deadlines share one timer, and none remains at the end', async t => {
  const { clock, deadlines, ran, begin } = startDeadlines()
  for (const name of ['one', 'two', 'three']) begin(name)
  t.equal(clock.pending, 1)
  deadlines.close()
  t.equal(clock.pending, 0)
  clock.advance(5_000)
  t.same(ran, [])
})

t.test('after closing, a new deadline gets its full time, and the forgotten ones stay forgotten', async t => {
  const { clock, deadlines, ran, begin } = startDeadlines()
  begin('forgotten')
  clock.advance(400)
  deadlines.close()
  begin('new')
  clock.advance(999)
  t.same(ran, [])
  clock.advance(1)
  t.same(ran, ['new at 1400'])
})
