import t, { type Test } from 'tap'
import { closeLayer, pushLayer } from '../../../../web/ui/behavior/layers.ts'

t.test('a dismissed sheet is not closed again by the task it waited for', async t => {
  const { entries, back } = browserHistory(t)
  let closed = 0
  pushLayer(() => closed++)
  await back()
  t.equal(closed, 1)
  closeLayer()
  await tick()
  t.same(entries, [{ from: '/' }], 'the screen below stays')
})

t.test('closing a sheet twice leaves the screen below in place', async t => {
  const { entries } = browserHistory(t)
  let closed = 0
  const { close } = pushLayer(() => closed++)
  close()
  close()
  await tick()
  t.equal(closed, 1)
  t.same(entries, [{ from: '/' }])

  pushLayer(() => closed++)
  closeLayer()
  await tick()
  t.equal(closed, 2, 'the next one closes as the first did')
})

t.test('a sheet removed by its screen leaves no history entry, and gets no close event', async t => {
  const { entries, back } = browserHistory(t)
  let closed = 0
  pushLayer(() => closed++).end()
  await tick()
  t.same(entries, [{ from: '/' }])
  t.equal(closed, 0)

  const second = pushLayer(() => closed++)
  await back()
  second.end()
  await tick()
  t.same(entries, [{ from: '/' }], 'nor does one that was closed before go back further')
  t.equal(closed, 1)

  const third = pushLayer(() => closed++)
  location.href = 'http://home/elsewhere'
  third.end()
  await tick()
  t.equal(entries.length, 2, 'where another screen has taken its place that one stays')
})

t.test('a sheet that opens as another is removed stays open', async t => {
  const { entries, back } = browserHistory(t)
  const closed: string[] = []
  const first = pushLayer(() => closed.push('first'))
  first.end()
  pushLayer(() => closed.push('second'))
  await tick()
  t.same(closed, [])
  t.equal(entries.length, 2)
  await back()
  t.same(closed, ['second'])
  t.same(entries, [{ from: '/' }])
})

/** The history of a browser: going back is asynchronous, and reported by an event. */
function browserHistory(t: Test) {
  const entries: unknown[] = [{ from: '/' }]
  const window = new EventTarget()
  const history = {
    get state() {
      return entries.at(-1)
    },
    pushState: (state: unknown) => entries.push(state),
    back: () =>
      setImmediate(() => {
        entries.pop()
        window.dispatchEvent(new Event('popstate'))
      })
  }
  const { addEventListener, removeEventListener } = EventTarget.prototype
  const globals = {
    history,
    location: { href: 'http://home/' },
    addEventListener: addEventListener.bind(window),
    removeEventListener: removeEventListener.bind(window)
  }
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true })
  t.teardown(() => {
    for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name)
  })
  return {
    entries,
    back: async () => {
      history.back()
      await tick()
    }
  }
}

/** Waits until all pending history navigation is done. */
async function tick(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
}
