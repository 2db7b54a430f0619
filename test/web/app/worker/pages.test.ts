import t, { type Test } from 'tap'
import { alertInPage, openInPage } from '../../../../web/app/worker/pages.ts'

type Pages = Parameters<typeof openInPage>[0]

interface Page {
  readonly name: string
  readonly isVisible?: boolean
  /** `deaf`: it does not answer. `gone`: nothing can be sent to it. */
  readonly how?: 'listens' | 'deaf' | 'gone'
  readonly mayFocus?: boolean
  readonly mayNavigate?: boolean
}

/** The open pages of the app, and what was done with them. The time for an answer passes once a page does not give one. */
function browser(t: Test, pages: readonly Page[]) {
  const done: unknown[] = []
  const waits: number[] = []
  let passTime = () => {}
  t.intercept(globalThis, 'setTimeout', {
    value(run: () => void, ms: number) {
      waits.push(ms)
      passTime = run
    }
  })
  const windows = pages.map(({ name, isVisible = true, how = 'listens', mayFocus = true, mayNavigate = true }) => ({
    visibilityState: isVisible ? 'visible' : 'hidden',
    async focus() {
      done.push(`focus ${name}`)
      if (!mayFocus) throw new DOMException('Not allowed to focus a window.', 'InvalidAccessError')
    },
    async navigate(path: string) {
      done.push(`navigate ${name} ${path}`)
      if (!mayNavigate) throw new TypeError('This service worker is not the client’s active service worker.')
    },
    postMessage(message: unknown, [port]: [MessagePort]) {
      done.push([name, message])
      if (how === 'gone') throw new DOMException('gone', 'InvalidStateError')
      if (how === 'listens') port.postMessage('taken')
      else passTime()
    }
  }))
  const clients = {
    async matchAll(filter: ClientQueryOptions) {
      t.strictSame(filter, { type: 'window', includeUncontrolled: true })
      return windows
    },
    openWindow: async (path: string) => void done.push(`open ${path}`)
  }
  // Only the members that are used.
  return { clients: clients as unknown as Pages, done, waits }
}

const alert = { type: 'alert', title: 'Orchard', body: 'A question', path: '/s/s1', isSilent: false } as const
const open = { type: 'open', path: '/s/s1' }

t.test('an alert goes to the first visible page that accepts it, and to no other', async t => {
  const rows: [Page[], boolean, unknown[]][] = [
    [[], false, []],
    [[{ name: 'a', isVisible: false }], false, []],
    [[{ name: 'a', isVisible: false }, { name: 'b' }, { name: 'c' }], true, [['b', alert]]],
    [
      [{ name: 'a', how: 'deaf' }, { name: 'b', how: 'gone' }, { name: 'c' }, { name: 'd' }],
      true,
      ['a', 'b', 'c'].map(name => [name, alert])
    ],
    [[{ name: 'a', how: 'deaf' }], false, [['a', alert]]]
  ]
  for (const [pages, isShown, acts] of rows) {
    const there = browser(t, pages)
    t.equal(await alertInPage(there.clients, alert), isShown, JSON.stringify(pages))
    t.strictSame(there.done, acts)
    t.strictSame(
      there.waits,
      acts.map(() => 1500),
      'each page has a second and a half to answer'
    )
  }
})

t.test('a tapped notification opens in a page that is there, visible ones first', async t => {
  const rows: [Page[], unknown[]][] = [
    [[], ['open /s/s1']],
    [[{ name: 'a' }], ['focus a', ['a', open]]],
    [
      [{ name: 'a', isVisible: false }, { name: 'b' }],
      ['focus b', ['b', open]]
    ],
    [[{ name: 'a', isVisible: false }], ['focus a', ['a', open]]],
    [[{ name: 'a', mayFocus: false }], ['focus a', ['a', open]]],
    [[{ name: 'a', how: 'deaf' }], ['focus a', ['a', open], 'navigate a /s/s1']],
    [[{ name: 'a', how: 'deaf', mayNavigate: false }], ['focus a', ['a', open], 'navigate a /s/s1', 'open /s/s1']]
  ]
  for (const [pages, acts] of rows) {
    const there = browser(t, pages)
    await openInPage(there.clients, '/s/s1')
    t.strictSame(there.done, acts, JSON.stringify(pages))
  }
})
