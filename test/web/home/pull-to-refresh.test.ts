import t from 'tap'
import { watchPulls } from '../../../web/home/pull-to-refresh.ts'

type Finger = readonly [x: number, y: number]

/** A list, and what pulling it did. */
function list({ scrollTop = 0 } = {}) {
  const element = Object.assign(new EventTarget(), { scrollTop })
  const done: (string | boolean)[] = []
  const stop = watchPulls(element as unknown as HTMLElement, { far: isFar => done.push(isFar), pulled: () => done.push('pulled') })
  const tell = (type: string, ...fingers: Finger[]) => {
    const touches = fingers.map(([clientX, clientY]) => ({ clientX, clientY }))
    element.dispatchEvent(Object.assign(new Event(type), { touches }))
  }
  return {
    ...{ element, done, stop },
    begin: (...fingers: Finger[]) => tell('touchstart', ...fingers),
    move: (...fingers: Finger[]) => tell('touchmove', ...fingers),
    letGo: () => tell('touchend'),
    cancel: () => tell('touchcancel')
  }
}

t.test('a list pulled far enough and released is refreshed, once', async t => {
  const { begin, move, letGo, done } = list()
  begin([50, 100])
  move([50, 209])
  move([50, 210])
  letGo()
  t.same(done, [false, true, false, 'pulled'])
  move([50, 300])
  letGo()
  t.same(done.slice(4), [false])
})

t.test('a pull that is taken back, or that the browser takes over, refreshes nothing', async t => {
  const back = list()
  back.begin([50, 100])
  back.move([50, 300])
  back.move([50, 150])
  back.letGo()
  t.same(back.done, [true, false, false])
  const over = list()
  over.begin([50, 100])
  over.move([50, 300])
  over.cancel()
  over.letGo()
  t.same(over.done, [true, false, false])
})

t.test('a list that scrolls, a second finger and a swipe to the side are no pull', async t => {
  const rows: [string, ReturnType<typeof list>, readonly Finger[], readonly Finger[], number?][] = [
    ['not at its top', list({ scrollTop: 1 }), [[50, 100]], [[50, 300]]],
    ['scrolled meanwhile', list(), [[50, 100]], [[50, 300]], 1],
    [
      'begun with two fingers',
      list(),
      [
        [50, 100],
        [80, 100]
      ],
      [[50, 300]]
    ],
    [
      'a second finger later',
      list(),
      [[50, 100]],
      [
        [50, 300],
        [80, 300]
      ]
    ],
    ['mostly to the side', list(), [[50, 100]], [[261, 310]]],
    ['begun without a finger', list(), [], [[50, 300]]],
    ['no finger left', list(), [[50, 100]], []]
  ]
  for (const [what, { element, begin, move, letGo, done }, first, then, scrollTop = element.scrollTop] of rows) {
    begin(...first)
    element.scrollTop = scrollTop
    move(...then)
    letGo()
    t.notOk(done.includes(true), what)
    t.notOk(done.includes('pulled'), what)
  }
})

t.test('a pull as far down as to the side counts, and once it counts it may go to the side', async t => {
  const { begin, move, letGo, done } = list({ scrollTop: -20 })
  begin([50, 100])
  move([160, 210])
  move([300, 210])
  letGo()
  t.same(done, [true, true, false, 'pulled'], 'also on a list that springs back')
})

t.test('a list that is gone hears nothing', async t => {
  const { begin, move, letGo, cancel, stop, done } = list()
  begin([50, 100])
  stop()
  move([50, 300])
  letGo()
  cancel()
  t.same(done, [])
})
