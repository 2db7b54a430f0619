import t, { type Test } from 'tap'
import { watchSwipes } from '../../../web/home/swipe.ts'
import { pageGlobals } from '../kit/page-globals.ts'

class Row extends EventTarget {
  readonly dataset: Record<string, string> = {}
  readonly drawn: string[] = []
  readonly style = { setProperty: (name: string, value: string) => this.drawn.push(`${name} ${value}`) }
  isMenu = false
  closest(selector: string): Row | null {
    return this.isMenu && selector === '.row-menu' ? this : null
  }
}

interface Press {
  readonly id?: number
  readonly x?: number
  readonly y?: number
  readonly pointerType?: string
  readonly timeStamp?: number
}

/** A row, what its gestures did, and the finger on it. */
function rowIn(t: Test, { direction = 'ltr', isOff = false } = {}) {
  const timers = new Set<{ run: () => void; ms: number }>()
  pageGlobals(t, {
    Element: Row,
    getComputedStyle: () => ({ direction }),
    setTimeout(run: () => void, ms: number) {
      const timer = { run, ms }
      timers.add(timer)
      return timer
    },
    clearTimeout: (timer: { run: () => void; ms: number }) => timers.delete(timer)
  })
  const row = new Row()
  const done: string[] = []
  const of = { isOff, onStart: () => done.push('start'), onEnd: () => done.push('end'), onHold: () => done.push('hold') }
  const latest = { current: of }
  const stop = watchSwipes(row as unknown as HTMLElement, latest)
  t.teardown(stop)

  /** Whether the browser still does what it usually does. */
  const tell = (type: string, { id = 1, x = 0, y = 0, pointerType = 'touch', timeStamp = 0 }: Press = {}): boolean => {
    const event = Object.assign(new Event(type, { cancelable: true }), {
      pointerId: id,
      isPrimary: id === 1,
      clientX: x,
      clientY: y,
      pointerType
    })
    Object.defineProperty(event, 'timeStamp', { value: timeStamp })
    return row.dispatchEvent(event)
  }
  return {
    ...{ row, done, latest, stop, tell },
    press: (press?: Press) => tell('pointerdown', press),
    move: (x: number, y = 0, id = 1) => tell('pointermove', { x, y, id }),
    lift: (press?: Press) => tell('pointerup', press),
    wait() {
      for (const { run } of timers) run()
      return [...timers].map(({ ms }) => ms)
    }
  }
}

t.test('a swipe far enough acts, by the direction of the writing', async t => {
  const rows: [string, number, string[]][] = [
    ['ltr', -96, ['start']],
    ['ltr', 96, ['end']],
    ['ltr', -95, []],
    ['ltr', 95, []],
    ['rtl', 96, ['start']],
    ['rtl', -96, ['end']]
  ]
  for (const [direction, x, acts] of rows) {
    const { press, move, lift, row, done } = rowIn(t, { direction })
    press()
    move(x)
    const towards = x < 0 === (direction === 'ltr') ? 'start' : 'end'
    t.same([row.drawn, row.dataset['drawn'], done], [[`--drawn ${x}px`], towards, []], 'nothing happens before the finger is lifted')
    lift()
    t.same([done, row.drawn.at(-1), row.dataset['drawn']], [acts, '--drawn 0px', ''], `${direction} ${x}`)
    move(x)
    lift()
    t.same(done, acts, 'and nothing more after that')
  }
})

t.test('a row is drawn only so far, and only once it is clear that the finger does not scroll', async t => {
  const { press, move, row, done, lift } = rowIn(t)
  press({ x: 10, y: 10 })
  move(18, 10)
  move(30, 30)
  move(30, 50)
  t.same(row.drawn, [])
  move(19, 10)
  t.same(row.drawn, ['--drawn 9px'])
  move(30, 60)
  move(-290, 10)
  move(310, 10)
  t.same(row.drawn.slice(1), ['--drawn 20px', `--drawn ${-96 * 1.3}px`, `--drawn ${96 * 1.3}px`])
  move(-90, 10, 2)
  lift({ id: 2 })
  t.same([row.drawn.length, done], [4, []], 'another finger does not count')
  lift()
  t.same(done, ['end'])
})

t.test('a swipe that the browser takes over does nothing', async t => {
  const { press, move, tell, row, done } = rowIn(t)
  press()
  move(120)
  tell('pointercancel')
  t.same([done, row.drawn.at(-1)], [[], '--drawn 0px'])
})

t.test('a mouse, a row that is turned off, and a press on its menu neither swipe nor hold', async t => {
  const mouse = rowIn(t)
  mouse.press({ pointerType: 'mouse' })
  const off = rowIn(t, { isOff: true })
  off.press()
  const menu = rowIn(t)
  menu.row.isMenu = true
  menu.press()
  for (const { move, lift, wait, row, done, tell } of [mouse, off, menu]) {
    move(120)
    wait()
    lift()
    t.same([done, row.drawn, tell('click'), tell('contextmenu')], [[], [], true, true])
  }
})

t.test('a finger that stays for half a second holds the row, as it is then', async t => {
  const { press, move, wait, lift, done, latest } = rowIn(t)
  press()
  move(6, 5)
  latest.current = { ...latest.current, onHold: () => done.push('hold, later') }
  t.same(wait(), [500])
  t.same(done, ['hold, later'])
  move(120)
  lift()
  t.same(done, ['hold, later'], 'it does not swipe as well')
})

t.test('a finger that moves or is lifted does not hold', async t => {
  for (const release of [
    ({ move }: ReturnType<typeof rowIn>) => move(0, 9),
    ({ move }: ReturnType<typeof rowIn>) => move(9, 0),
    ({ lift }: ReturnType<typeof rowIn>) => lift(),
    ({ stop }: ReturnType<typeof rowIn>) => stop()
  ]) {
    const row = rowIn(t)
    row.press()
    release(row)
    row.wait()
    t.same(row.done, [])
  }
})

t.test('two fingers neither hold nor swipe, whether they pinch or rest', async t => {
  const { press, move, lift, wait, row, done } = rowIn(t)
  press({ id: 1 })
  press({ id: 2 })
  wait()
  t.same(done, [])
  move(120, 0, 1)
  move(120, 0, 2)
  lift({ id: 1 })
  lift({ id: 2 })
  press({ id: 1 })
  move(120, 0, 1)
  press({ id: 2 })
  lift({ id: 1 })
  t.same([done, row.drawn.at(-1)], [[], '--drawn 0px'], 'also when the second comes later')
  press({ id: 1 })
  press({ id: 2 })
  move(20, 20, 1)
  move(-20, -20, 2)
  wait()
  t.same(done, [])
})

t.test('a swipe or hold does not also open the row, and a click of its own does', async t => {
  const { press, move, lift, tell, wait } = rowIn(t)
  press()
  lift({ timeStamp: 1000 })
  t.equal(tell('click', { timeStamp: 1001 }), true, 'a tap')
  for (const act of [() => move(20), wait]) {
    for (const [timeStamp, opens] of [
      [1400, false],
      [1401, true]
    ] as const) {
      press()
      act()
      lift({ timeStamp: 1000 })
      t.equal(tell('click', { timeStamp }), opens, `${timeStamp}`)
      t.equal(tell('click', { timeStamp }), true, 'only one click is left out')
    }
  }
  press()
  move(20)
  lift({ timeStamp: 1000 })
  press()
  lift({ timeStamp: 1100 })
  t.equal(tell('click', { timeStamp: 1101 }), true, 'the tap after it')
})

t.test('a finger opens no menu of the browser, and the next mouse does', async t => {
  const { press, lift, tell, wait } = rowIn(t)
  t.equal(tell('contextmenu'), true)
  press()
  t.equal(tell('contextmenu'), false, 'while it may hold')
  t.equal(tell('contextmenu'), true, 'only one is left out')
  press()
  wait()
  t.equal(tell('contextmenu'), false)
  press()
  lift()
  press({ pointerType: 'mouse' })
  t.equal(tell('contextmenu'), true)
})

t.test('a row that is gone hears nothing', async t => {
  const { press, move, lift, stop, done, row, tell } = rowIn(t)
  press()
  move(120)
  stop()
  lift()
  press()
  move(120)
  tell('pointercancel')
  t.same([done, row.drawn, tell('click'), tell('contextmenu')], [[], ['--drawn 120px'], true, true])
})
