import t, { type Test } from 'tap'
import { dragDown } from '../../../../web/ui/behavior/swipe-across.ts'

class Part extends EventTarget {
  readonly style = { translate: '' }
  clientHeight = 900
  readonly captured: number[] = []
  isButton = false
  setPointerCapture(pointer: number): void {
    this.captured.push(pointer)
  }
  closest(selector: string): Part | null {
    return selector === 'button' && this.isButton ? this : null
  }
}

/** A sheet whose head a finger can drag. */
function open(t: Test, { isHeld = false, clientHeight = 900 } = {}) {
  t.intercept(globalThis, 'Element' as never, { value: Part, configurable: true } as never)
  const [sheet, handle] = [new Part(), new Part()]
  sheet.clientHeight = clientHeight
  const state = { isHeld, closed: 0 }
  dragDown(sheet as never, handle as never, { isHeld: () => state.isHeld, close: () => state.closed++ })
  const finger = (type: string, clientY: number, more: object = {}) => {
    const event = Object.assign(new Event(`pointer${type}`), { clientY, pointerId: 1, pointerType: 'touch', ...more })
    handle.dispatchEvent(event)
    return sheet.style.translate
  }
  return { sheet, handle, state, finger }
}

t.test('a sheet follows the finger down, and closes when it is let go far enough', async t => {
  const { finger, state, handle } = open(t)
  t.equal(finger('down', 100), '')
  t.same(handle.captured, [1])
  t.equal(finger('move', 110), '', 'a still finger moves nothing')
  t.equal(finger('move', 111), '0 11px')
  t.equal(finger('move', 300), '0 200px')
  t.equal(finger('move', 50), '0 200px', 'it is not drawn up')
  t.equal(finger('up', 243), '')
  t.equal(state.closed, 0, 'not far enough')
  finger('down', 100)
  finger('up', 244)
  t.equal(state.closed, 1)
  finger('up', 400)
  t.equal(state.closed, 1, 'it was let go before')
})

t.test('a third of a low sheet is far enough', async t => {
  const { finger, state } = open(t, { clientHeight: 300 })
  finger('down', 0)
  finger('up', 99)
  t.equal(state.closed, 0)
  finger('down', 0)
  finger('up', 100)
  t.equal(state.closed, 1)
})

t.test('a mouse, a button in the head, another finger and a canceled drag close nothing', async t => {
  const { finger, state, handle } = open(t)
  for (const [begin, end] of [
    [{ pointerType: 'mouse' }, {}],
    [{}, { pointerId: 2 }]
  ]) {
    finger('down', 0, begin)
    finger('move', 500, end)
    finger('up', 500, end)
  }
  finger('cancel', 500)
  handle.isButton = true
  finger('down', 0)
  finger('up', 500)
  t.equal(state.closed, 0)
})

t.test('a sheet that must stay is not dragged, and stays if that became so meanwhile', async t => {
  const held = open(t, { isHeld: true })
  held.finger('down', 0)
  t.equal(held.finger('move', 500), '')
  held.finger('up', 500)
  const later = open(t)
  later.finger('down', 0)
  later.finger('move', 500)
  later.state.isHeld = true
  t.equal(later.finger('up', 500), '')
  t.same([held.state.closed, later.state.closed], [0, 0])
})
