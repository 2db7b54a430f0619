import t, { type Test } from 'tap'
import { useFileDrop } from '../../../../web/session/composer/file-drop.ts'
import { inComponent } from '../../kit/in-component.ts'
import { pageGlobals } from '../../kit/page-globals.ts'

const plan = { name: 'plan.txt' }

/** A page on which something is dragged. */
function page(t: Test) {
  const { window } = pageGlobals(t)
  const of = { to: 'the message', attached: [] as unknown[] }
  const component = inComponent(t, () => {
    const { to } = of
    return useFileDrop(files => void of.attached.push([to, files]))
  })
  return {
    ...{ of, component },
    isOver: () => component.latest,
    /** Whether the browser still does what it usually does, such as opening the file. */
    drag(type: string, dataTransfer: object | null, relatedTarget: object | null = null) {
      const event = Object.assign(new Event(type, { cancelable: true }), { dataTransfer, relatedTarget })
      component.act(() => window.dispatchEvent(event))
      return !event.defaultPrevented
    }
  }
}

const files = { types: ['text/plain', 'Files'], files: [plan] }

t.test('files dropped on the page are attached instead of opened, and the page shows while they are over it', async t => {
  const { drag, isOver, of } = page(t)
  t.equal(isOver(), false)
  t.equal(drag('dragover', files), false)
  t.equal(isOver(), true)
  drag('dragleave', files, { an: 'element of the page' })
  t.equal(isOver(), true, 'it is still over the page')
  drag('dragleave', files)
  t.equal(isOver(), false)
  drag('dragover', files)
  t.equal(drag('drop', files), false)
  t.same([isOver(), of.attached], [false, [['the message', [plan]]]])
})

t.test('text that is dragged is left to the field below it', async t => {
  const { drag, isOver, of } = page(t)
  for (const other of [{ types: ['text/plain'], files: [] }, null]) {
    t.equal(drag('dragover', other), true)
    t.equal(isOver(), false)
    t.equal(drag('drop', other), true)
  }
  t.same(of.attached, [])
})

t.test('files go to the message that is written now, and nowhere once the composer is gone', async t => {
  const { drag, of, component } = page(t)
  of.to = 'the next message'
  component.again()
  drag('drop', files)
  t.same(of.attached, [['the next message', [plan]]])
  component.remove()
  t.same([drag('dragover', files), drag('drop', files)], [true, true])
  t.equal(of.attached.length, 1)
})
