import t from 'tap'
import { focusBack } from '../../../../web/ui/behavior/focus-back.ts'
import { pageGlobals } from '../../kit/page-globals.ts'

class Part {
  isConnected = true
  readonly focused: unknown[] = []
  focus(how: unknown): void {
    this.focused.push(how)
  }
}

t.test('the focus returns to where it was, unless it has moved elsewhere or that is gone', async t => {
  const { document } = pageGlobals(t, { HTMLElement: Part })
  const body = new Part()
  const rows: [string, unknown, boolean, boolean][] = [
    ['nothing has it any more', null, true, true],
    ['the page itself has it', body, true, true],
    ['it has moved elsewhere', new Part(), true, false],
    ['where it was is gone', null, false, false]
  ]
  for (const [what, now, isConnected, returns] of rows) {
    const button = new Part()
    Object.assign(document, { body, activeElement: button })
    const back = focusBack()
    Object.assign(document, { activeElement: now })
    button.isConnected = isConnected
    back()
    t.same(button.focused, returns ? [{ preventScroll: true }] : [], what)
  }
  Object.assign(document, { activeElement: null })
  t.doesNotThrow(focusBack())
})
