import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { useAfter } from '../../../../web/ui/behavior/after.ts'
import { inComponent } from '../../kit/in-component.ts'

const ms = 40

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
t.afterEach(() => mock.timers.reset())

/** Shows a content, and tells when it has lasted. */
function show(t: Test, content?: unknown) {
  const shown = { content }
  const component = inComponent(t, () => useAfter(ms, shown.content))
  return {
    component,
    hasLasted: () => component.latest,
    pass: (by: number) => component.act(() => mock.timers.tick(by)),
    change(next: unknown) {
      shown.content = next
      component.again()
    }
  }
}

t.test('what has been there for a while has lasted, and stays so', async t => {
  const { hasLasted, component, pass } = show(t)
  t.equal(hasLasted(), false)
  await pass(ms - 1)
  component.again()
  t.equal(hasLasted(), false)
  await pass(ms)
  t.equal(hasLasted(), true)
  component.again()
  t.equal(hasLasted(), true)
})

t.test('a change has to last again, as long as the first', async t => {
  const { hasLasted, change, pass } = show(t, 'a')
  await pass(ms)
  change('b')
  t.equal(hasLasted(), false)
  await pass(ms - 1)
  change('c')
  await pass(ms - 1)
  t.equal(hasLasted(), false, 'b did not last')
  await pass(1)
  t.equal(hasLasted(), true)
})
