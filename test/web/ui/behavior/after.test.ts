import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { useAfter } from '../../../../web/ui/behavior/after.ts'
import { inComponent } from '../../kit/in-component.ts'

const ms = 40

/** Shows a content, and tells when it has lasted. */
function show(t: Test, content?: unknown) {
  const shown = { content }
  const component = inComponent(t, () => useAfter(ms, shown.content))
  return {
    component,
    hasLasted: () => component.latest,
    change(next: unknown) {
      shown.content = next
      component.again()
    }
  }
}

t.test('what has been there for a while has lasted, and stays so', async t => {
  const { hasLasted, component } = show(t)
  t.equal(hasLasted(), false)
  await pause(ms / 4)
  component.again()
  t.equal(hasLasted(), false)
  await pause(ms * 2)
  t.equal(hasLasted(), true)
  component.again()
  t.equal(hasLasted(), true)
})

t.test('a change has to last again, as long as the first', async t => {
  const { hasLasted, change } = show(t, 'a')
  await pause(ms * 2)
  change('b')
  t.equal(hasLasted(), false)
  await pause(ms * 0.75)
  change('c')
  await pause(ms * 0.5)
  t.equal(hasLasted(), false, 'b did not last')
  await pause(ms)
  t.equal(hasLasted(), true)
})
