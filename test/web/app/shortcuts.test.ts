import 'fake-indexeddb/auto'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { type KeyLayer, startKeys } from '../../../web/app/shortcuts.ts'
import { isOn, startPreferences } from '../../../web/core/preferences.ts'
import { go, route } from '../../../web/core/router.ts'
import type { Route } from '../../../web/core/routes.ts'
import { selected, selectThese, stopSelecting } from '../../../web/home/selection.ts'
import { updateHome } from '../../../web/model/home.ts'
import { shownToast } from '../../../web/ui/toast.ts'
import { otherTabs } from '../kit/other-tabs.ts'
import { pageGlobals } from '../kit/page-globals.ts'
import { sessionRow } from '../kit/session-row.ts'

otherTabs()

/** An element of the page, which notes what is done with it. */
class Part extends EventTarget {
  readonly is: ReadonlySet<string>
  readonly dataset: Record<string, string>
  readonly #name: string
  readonly #done: string[]
  constructor(name: string, done: string[], is: readonly string[] = [], dataset: Record<string, string> = {}) {
    super()
    this.#name = name
    this.#done = done
    this.is = new Set(is)
    this.dataset = dataset
  }
  click() {
    this.#done.push(`click ${this.#name}`)
  }
  focus() {
    this.#done.push(`focus ${this.#name}`)
  }
  scrollIntoView({ block }: { block: string }) {
    this.#done.push(`show ${this.#name} ${block}`)
  }
  checkVisibility() {
    return !this.is.has('hidden')
  }
  matches(what: string) {
    return what === ':focus' ? this.is.has('focused') : this.is.has('written in')
  }
  getAttribute(name: string) {
    return name === 'aria-current' && this.is.has('current') ? 'page' : null
  }
  closest() {
    return this
  }
}

/** The app with these elements, by their selectors, and the keys that are pressed in it. */
function app(t: Test, { parts = [] as readonly string[], at = { name: 'home' } as Route } = {}) {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now: 1_700_000_000_000 })
  const has = new Set(parts)
  const done: string[] = []
  const page = { rows: [] as Part[], active: null as Part | null }
  const { document, window, kept } = pageGlobals(t, { HTMLElement: Part, location: { href: '' } })
  Object.assign(document, {
    documentElement: { dataset: {} },
    querySelector: (what: string) => (has.has(what) ? new Part(what, done) : null),
    querySelectorAll: () => page.rows
  })
  Object.defineProperty(document, 'activeElement', { get: () => page.active })
  Object.assign(history, { back: () => done.push('back') })
  startPreferences()
  go(at)
  const stop = startKeys(layer => done.push(`open ${layer satisfies KeyLayer}`))
  t.teardown(() => {
    stop()
    stopSelecting()
    updateHome({ type: 'cleared' })
    mock.timers.tick(60_000)
    mock.timers.reset()
  })
  /** What a key does; with a star if it is not left to others. */
  const press = (
    key: string,
    { target, isHandled = false, ...more }: { target?: Part; isHandled?: boolean; [name: string]: unknown } = {}
  ) => {
    const event = Object.assign(new Event('keydown', { cancelable: true }), { key, code: '', ...more })
    if (target !== undefined) Object.defineProperty(event, 'target', { value: target })
    if (isHandled) event.preventDefault()
    window.dispatchEvent(event)
    return [...done.splice(0), ...(event.defaultPrevented ? ['*'] : [])]
  }
  const row = (name: string, ...is: string[]) => new Part(name, done, is)
  return { has, page, press, row, stop, kept, done }
}

const session = (view: readonly string[] = []) => ({ name: 'session', id: 's1', view }) as Route

t.test('two keys go to a screen, if the second follows soon and nothing came between', async t => {
  const { press } = app(t)
  for (const [key, name] of [
    ['m', 'machines'],
    ['s', 'settings'],
    ['h', 'home']
  ] as const) {
    t.same(press('g'), [])
    mock.timers.tick(1_499)
    t.same(press(key), ['*'])
    t.equal(route.value.name, name)
  }
  press('g')
  mock.timers.tick(1_500)
  t.same(press('m'), [])
  press('g')
  press('q')
  t.same(press('m'), [])
  press('g')
  t.same(press('G'), [])
  t.same(press('M'), ['*'])
  t.same(press('s'), [], 'once')
  t.equal(route.value.name, 'machines')
})

t.test('single keys open a new session, the search and the list of keys', async t => {
  const { press } = app(t)
  t.same(press('?'), ['open keys', '*'])
  t.same(press('n'), ['*'])
  t.equal(route.value.name, 'new')
  t.same(press('/'), ['*'])
  t.equal(route.value.name, 'search')
})

t.test('keys are left alone while someone types, under a sheet, with a modifier, or when turned off', async t => {
  const { press, has, row, stop, kept } = app(t, { parts: ['.dock .scopes :checked'] })
  t.same(press('?', { target: row('field', 'written in') }), [])
  t.same(press('?', { target: row('button') }), ['open keys', '*'])
  for (const key of ['ctrlKey', 'metaKey', 'altKey']) t.same(press('n', { [key]: true }), [], key)
  t.same(press('n', { isComposing: true }), [])
  t.same(press('k', { ctrlKey: true, isComposing: true }), [])
  has.add('dialog[open], [role=menu]')
  t.same([press('n'), press('?'), press('s', { altKey: true, code: 'KeyS' })], [[], [], []])
  has.delete('dialog[open], [role=menu]')
  kept.set('afield-singleKeys', 'false')
  startPreferences()
  t.same([press('n'), press('?'), press('g'), press('m')], [[], [], [], []])
  t.same(press('k', { ctrlKey: true }), ['open palette', '*'], 'this is no single key')
  stop()
  t.same(press('k', { ctrlKey: true }), [])
  t.equal(route.value.name, 'home')
})

t.test('a key that something else handled does nothing more', async t => {
  const { press } = app(t)
  t.same(press('?', { isHandled: true }), ['*'])
})

t.test('Ctrl or Command with K opens the palette, also while someone types, and not over a sheet', async t => {
  const { press, has, row } = app(t)
  t.same(press('k', { ctrlKey: true, target: row('field', 'written in') }), ['open palette', '*'])
  t.same(press('K', { metaKey: true }), ['open palette', '*'])
  for (const key of ['altKey', 'shiftKey']) t.same(press('k', { ctrlKey: true, [key]: true }), [], key)
  t.same(press('j', { ctrlKey: true }), [])
  has.add('dialog[open], [role=menu]')
  t.same(press('k', { ctrlKey: true }), ['*'])
})

t.test('keys press and focus what is on the screen, and are left alone if it is not there', async t => {
  const { press, has } = app(t)
  const allow = '.dock .dock-f:not(.deny) .acts > :last-child:enabled'
  const rows: [key: string, selector: string, does: string][] = [
    ['j', '.needs-next:enabled', 'click'],
    ['k', '.needs-before:enabled', 'click'],
    ['c', '.composer textarea', 'focus'],
    ['c', '.foot-line .line-w', 'click'],
    ['.', '.strip .stop', 'click'],
    ['.', '.foot-line .stop', 'click'],
    ['a', allow, 'focus'],
    ['r', '.dock .deny-b:enabled', 'click']
  ]
  for (const [key] of rows) t.same(press(key), [], key)
  for (const [key, selector, does] of rows) {
    has.add(selector)
    t.same(press(key), [`${does} ${selector}`, '*'], selector)
  }
  t.same(press('ß', { altKey: true, code: 'KeyS' }), [])
  has.add('.dock .scopes :checked')
  t.same(press('ß', { altKey: true, code: 'KeyS' }), ['focus .dock .scopes :checked', '*'])
  t.same(press('s', { code: 'KeyS' }), [])
  t.same(press('a', { altKey: true, code: 'KeyA' }), [])
})

t.test('J and K move through the rows that can be seen, from the focused or the open one', async t => {
  const { press, page, row } = app(t)
  const to = (name: string) => [`focus ${name}`, `show ${name} nearest`, '*']
  const keys = () => [press('j'), press('k')]
  page.rows = [row('a', 'hidden')]
  t.same(keys(), [[], []])
  page.rows = [row('x', 'hidden'), row('a'), row('b'), row('c'), row('y', 'hidden')]
  t.same(keys(), [to('a'), to('c')])
  page.rows = [row('a'), row('b', 'current'), row('c')]
  t.same(keys(), [to('c'), to('a')])
  page.rows = [row('a', 'current'), row('b'), row('c', 'focused')]
  t.same(keys(), [to('c'), to('b')])
  page.rows = [row('a', 'focused'), row('b'), row('c', 'current')]
  t.same(keys(), [to('b'), to('a')])
})

t.test('D shows the changes of the open session', async t => {
  const { press } = app(t, { at: session() })
  t.same(press('d'), ['*'])
  t.same(route.value, { name: 'session', id: 's1', view: ['changes'] })
  t.same(press('d'), [], 'they are shown')
  go({ name: 'home' })
  t.same(press('d'), [])
})

t.test('the list and the side panel collapse and come back', async t => {
  const { press } = app(t)
  const folded = () => [isOn('listFolded'), isOn('sideFolded')]
  const before = folded()
  t.same(press('['), ['*'])
  t.same(folded(), [!before[0], before[1]])
  t.same(press(']'), ['*'])
  t.same(folded(), [!before[0], !before[1]])
  t.same([press('['), press(']'), folded()], [['*'], ['*'], before])
})

t.test('X selects the session of the focused row, or the open one', async t => {
  const { press, page } = app(t, { at: session() })
  t.same(press('x'), ['*'])
  page.active = new Part('row', [], [], { session: 's2' })
  t.same(press('x'), ['*'])
  t.same([...(selected.value ?? [])], ['s1', 's2'])
  page.active = null
  go({ name: 'home' })
  t.same(press('x'), [])
  t.same([...(selected.value ?? [])], ['s1', 's2'])
})

t.test('E archives the selected sessions, or the one here, unless they are archived', async t => {
  const { press } = app(t)
  const asked = async () => {
    const pressed = press('e')
    // Loaded on demand; without a connection it only says so.
    await import('../../../web/model/session/actions.ts')
    await new Promise(setImmediate)
    const said = shownToast.value !== undefined
    mock.timers.tick(4_000)
    return [...pressed, ...(said ? ['asked'] : [])]
  }
  t.same(await asked(), [], 'there is none')
  const now = Date.now()
  const show = (id: string, archivedAt: number | null) =>
    updateHome({ type: 'session', session: { ...sessionRow, id, metadata: { path: '/a', host: 'h', archivedAt } } })
  show('s1', null)
  show('s2', now)
  go(session())
  t.same(await asked(), ['*', 'asked'])
  selectThese(['s2'])
  t.same(await asked(), [], 'it is archived')
  t.ok(selected.value)
  selectThese(['s1', 's2'])
  t.same(await asked(), ['*', 'asked'])
  t.equal(selected.value, undefined)
})

t.test('Escape ends the selection, then goes back from the search and the archive', async t => {
  const { press } = app(t)
  go({ name: 'search' })
  selectThese([])
  t.same(press('Escape'), ['*'])
  t.same([selected.value, route.value.name], [undefined, 'search'])
  for (const name of ['search', 'archive'] as const) {
    go({ name }, 'replace')
    t.same(press('Escape'), ['back', '*'], name)
  }
  for (const at of [{ name: 'home' } as Route, session(), { name: 'settings' } as Route]) {
    go(at)
    t.same(press('Escape'), [], at.name)
    t.same(route.value, at)
  }
})
