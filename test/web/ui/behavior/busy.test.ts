import t from 'tap'
import { useBusy } from '../../../../web/ui/behavior/busy.ts'
import { inComponent } from '../../kit/in-component.ts'

t.test('one action at a time: another is left out while one runs, and can be done after it, also if it failed', async t => {
  const component = inComponent(t, useBusy)
  const done: string[] = []
  const { promise, reject } = Promise.withResolvers<void>()
  t.equal(component.latest.isBusy, false)
  const first = component.latest.run(async () => {
    done.push('first')
    await promise
  })
  // In the same moment: the screen does not know yet.
  await component.latest.run(async () => void done.push('too early'))
  await component.act(() => {})
  t.equal(component.latest.isBusy, true)
  await component.latest.run(async () => void done.push('still too early'))
  reject(new Error('refused'))
  await t.rejects(first, /refused/)
  await component.act(() => {})
  t.equal(component.latest.isBusy, false)
  await component.latest.run(async () => void done.push('second'))
  t.same(done, ['first', 'second'])
})
