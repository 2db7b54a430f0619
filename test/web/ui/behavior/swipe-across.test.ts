import t, { type Test } from 'tap'
import { useSwipeAcross } from '../../../../web/ui/behavior/swipe-across.ts'
import { inComponent } from '../../kit/in-component.ts'
import { pageGlobals } from '../../kit/page-globals.ts'

/** An element, for example a button, that may be wider inside than it is, in px. */
class Part extends EventTarget {
  readonly tag: string
  readonly parentElement: Part | null
  readonly style: { direction: string; overflowX: string }
  readonly clientWidth = 300
  readonly scrollWidth: number
  constructor(of: { tag?: string; within?: Part; wider?: number; overflowX?: string; direction?: string } = {}) {
    super()
    this.tag = of.tag ?? 'div'
    this.parentElement = of.within ?? null
    this.scrollWidth = this.clientWidth + (of.wider ?? 0)
    this.style = { direction: of.direction ?? 'ltr', overflowX: of.overflowX ?? 'visible' }
  }
  closest(selector: string): Part | null {
    return selector.split(', ').includes(this.tag) ? this : (this.parentElement?.closest(selector) ?? null)
  }
}

/** An area that can be swiped, what that did, and the finger on it. */
function area(t: Test, { direction = 'ltr' } = {}) {
  pageGlobals(t, { Element: Part, getComputedStyle: (of: Part) => of.style })
  const element = new Part({ direction })
  const done: string[] = []
  const of = { onNext: () => done.push('next'), onBefore: () => done.push('before') }
  const component = inComponent(t, () => {
    const area = useSwipeAcross({ ...of })
    area.current = element as never
  })
  const finger = (type: string, x: number, y: number, more: object = {}) => {
    const event = Object.assign(new Event(`pointer${type}`), { clientX: x, clientY: y, pointerId: 1, pointerType: 'touch' })
    for (const [name, value] of Object.entries(more)) Object.defineProperty(event, name, { value })
    element.dispatchEvent(event)
  }
  /** What a swipe so far did. */
  const swipe = (x: number, y = 0, more: object = {}) => {
    finger('down', 200, 400, more)
    finger('up', 200 + x, 400 + y)
    return done.splice(0)
  }
  return { element, component, of, done, finger, swipe }
}

t.test('a swipe against the direction of the writing goes on, and along it goes back', async t => {
  const ltr = area(t)
  t.same([ltr.swipe(-72), ltr.swipe(72)], [['next'], ['before']])
  const rtl = area(t, { direction: 'rtl' })
  t.same([rtl.swipe(72), rtl.swipe(-72)], [['next'], ['before']])
})

t.test('a finger that moves only a little, or more down than across, swipes nothing', async t => {
  const { swipe } = area(t)
  for (const [x, y] of [
    [-71, 0],
    [71, 0],
    [-100, 51],
    [100, -51]
  ] as const)
    t.same(swipe(x, y), [], `${x} across, ${y} down`)
  t.same([swipe(-100, 50), swipe(100, -50)], [['next'], ['before']], 'a little askew is still a swipe')
})

t.test('a mouse, another finger, and what the browser takes over swipe nothing', async t => {
  const { finger, swipe, done } = area(t)
  t.same(swipe(-200, 0, { pointerType: 'mouse' }), [])
  finger('down', 200, 400)
  finger('up', 0, 400, { pointerId: 2 })
  t.same(done, [])
  finger('cancel', 0, 400)
  finger('up', 0, 400)
  t.same(done, [], 'nor does the finger that it took over')
  finger('down', 200, 400)
  finger('up', 0, 400)
  finger('up', 0, 400)
  t.same(done, ['next'], 'one swipe counts once')
})

t.test('a button and a field keep their own swipes', async t => {
  const { swipe, element } = area(t)
  for (const tag of ['button', 'input', 'textarea', 'select']) {
    const taken = new Part({ tag, within: element })
    t.same(swipe(-200, 0, { target: taken }), [], tag)
    t.same(swipe(-200, 0, { target: new Part({ within: taken }) }), [], `something in a ${tag}`)
  }
  t.same(swipe(-200, 0, { target: new EventTarget() }), [], 'what is no element')
  t.same(swipe(-200, 0, { target: new Part({ within: element }) }), ['next'])
})

t.test('what scrolls sideways keeps its own swipes, also on a line in it that is too wide', async t => {
  const { swipe, element: within } = area(t)
  const lineIn = (of: Part) => new Part({ within: of })
  const wideIn = (of: Part) => new Part({ within: of, wider: 200 })
  for (const overflowX of ['auto', 'scroll']) {
    const scroller = new Part({ within, wider: 200, overflowX })
    for (const target of [scroller, lineIn(scroller), wideIn(scroller)]) t.same(swipe(-200, 0, { target }), [], overflowX)
    const rounded = new Part({ within, wider: 1, overflowX })
    t.same(swipe(-200, 0, { target: lineIn(rounded) }), ['next'], 'it has nothing to scroll')
  }
  const cut = new Part({ within, wider: 200, overflowX: 'hidden' })
  t.same(swipe(-200, 0, { target: lineIn(cut) }), ['next'], 'what is cut off does not scroll')
  t.same(swipe(-200, 0, { target: wideIn(within) }), ['next'])
})

t.test('a swipe does what the last rendering says, and nothing once the area is removed', async t => {
  const { component, of, swipe, finger, done } = area(t)
  of.onNext = () => done.push('after the next')
  component.again()
  t.same(swipe(-200), ['after the next'])
  finger('down', 200, 400)
  component.remove()
  finger('up', 0, 400)
  t.same([done, swipe(-200)], [[], []])
})
