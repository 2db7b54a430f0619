import t, { type Test } from 'tap'
import { pageGlobals } from '../kit/page-globals.ts'

const site = 'https://home.example'
const place = { href: '', origin: site, hash: '', pathname: '/', search: '' }
/** The entries of the history up to the current one. */
const entries: { path: string; state: unknown }[] = []
const history = {
  get state() {
    return entries.at(-1)?.state ?? null
  },
  pushState: (state: unknown, _: string, path: string) => enter([...entries, { state, path }]),
  replaceState: (state: unknown, _: string, path: string) => enter([...entries.slice(0, -1), { state, path }]),
  back() {
    enter(entries.slice(0, -1))
    page.window.dispatchEvent(new Event('popstate'))
  }
}

/** An anchor, or something in one. */
class Link extends EventTarget {
  readonly dataset: Record<string, string>
  readonly of: Partial<Record<'target' | 'download' | 'hash' | 'origin', string>>
  readonly pathname: string
  readonly search: string
  constructor(href: string, of: Link['of'] & { back?: string } = {}) {
    super()
    const { pathname, search } = new URL(href, site)
    Object.assign(this, { origin: site, target: '', hash: '', ...of })
    this.of = of
    this.dataset = of.back === undefined ? {} : { back: of.back }
    this.pathname = pathname
    this.search = search
  }
  closest(selector: string) {
    return selector === 'a' ? this : null
  }
  hasAttribute(name: string) {
    return name in this.of
  }
}

const page = pageGlobals(t, { location: place, history, Element: Link })
const { arrival, arriveWith, forgetArrival, go, goBack, goFromLayer, goOn, isPairingWaiting, route, startRouter } = await import(
  '../../../web/core/router.ts'
)
startRouter()

function enter(next: readonly { path: string; state: unknown }[]): void {
  entries.splice(0, entries.length, ...next)
  const { href, hash, pathname, search } = new URL(entries.at(-1)?.path ?? '/', site)
  Object.assign(place, { href, hash, pathname, search })
}

const paths = () => entries.map(({ path }) => path)

/** A tab in which this address was opened. */
function open(address: string, how: 'popstate' | 'hashchange' = 'popstate'): void {
  forgetArrival()
  enter([{ path: address, state: null }])
  page.window.dispatchEvent(new Event(how))
}

/** True if the app follows a click. */
function click(target: Link, more: object = {}): boolean {
  const event = Object.assign(new Event('click', { cancelable: true }), { button: 0, ...more })
  Object.defineProperty(event, 'target', { value: target })
  page.document.dispatchEvent(event)
  return event.defaultPrevented
}

t.test('an address shows its screen, and what follows # is kept for it and nowhere else', async t => {
  open('/settings/rules')
  t.same([route.value, arrival.value], [{ name: 'settings', page: 'rules' }, undefined])
  for (const how of ['popstate', 'hashchange'] as const) {
    open('/start?x=1#code=secret', how)
    t.equal(route.value.name, 'start')
    t.same(paths(), ['/start?x=1'], 'the address no longer has it')
    t.same([arrival.value?.href, arrival.value?.fragment.get('code')], [`${site}/start?x=1#code=secret`, 'secret'])
  }
  open('/start#')
  t.equal(arrival.value, undefined)
})

t.test('a new screen is a step in the history, the same one is not', async t => {
  open('/')
  go({ name: 'machines' })
  t.same(entries.at(-1), { path: '/machines', state: { from: '/' } })
  go({ name: 'machines' })
  t.same(paths(), ['/', '/machines'])
  go({ name: 'archive' }, 'replace')
  t.same([paths(), entries.at(-1)?.state, route.value], [['/', '/archive'], { from: '/' }, { name: 'archive' }])
  const before = route.value
  go({ name: 'archive' })
  t.equal(route.value, before, 'an equal screen is not drawn again')
})

t.test('back leads to the screen before if that is the one above, and otherwise replaces this one', async t => {
  open('/machines')
  go({ name: 'machine', id: 'm1' })
  goBack()
  t.same([paths(), route.value.name], [['/machines'], 'machines'])
  open('/machines/m1')
  goBack()
  t.same([paths(), route.value.name], [['/machines'], 'machines'])
  open('/search')
  go({ name: 'session', id: 's1', view: [] })
  goBack()
  t.same([paths(), route.value.name], [['/search', '/'], 'home'])
  open('/search')
  go({ name: 'session', id: 's1', view: [] })
  goBack({ name: 'search' })
  t.same(paths(), ['/search'])
})

t.test('a link that was scanned asks to pair, whatever it is, and is gone on with once there is an account', async t => {
  for (const [href, fragment] of [
    ['https://other.example/terminal/connect#key=abc', 'abc'],
    ['afield://terminal?abc', null],
    ['no address', null]
  ] as const) {
    open('/scan')
    arriveWith(href)
    t.same([route.value, arrival.value?.href, arrival.value?.fragment.get('key')], [{ name: 'pair' }, href, fragment])
    t.same(paths(), ['/pair'])
  }
  const rows = [
    ['/terminal/connect#key=abc', true],
    ['/pair#key=abc', true],
    ['/start#code=abc', false],
    ['/start', false]
  ] as const
  for (const [address, isWaiting] of rows) {
    open(address)
    t.equal(isPairingWaiting(), isWaiting, address)
    goOn()
    t.equal(route.value.name, isWaiting ? 'pair' : 'home')
  }
  open('/start')
  goOn({ name: 'start-key' })
  t.same([route.value.name, paths()], ['start-key', ['/start/key']])
  arriveWith('no address')
  t.equal(isPairingWaiting(), false)
})

t.test('from a layer, the screen below is replaced, once', async t => {
  open('/')
  go({ name: 'session', id: 's1', view: [] })
  enter([...entries, { path: '/s/s1', state: { layer: 1 } }])
  goFromLayer({ name: 'archive' })
  t.same([paths(), route.value.name], [['/', '/archive'], 'archive'])
  history.back()
  t.same([paths(), route.value.name], [['/'], 'home'])
})

t.test('the app follows its own links, and leaves to the browser what a person or a link means for it', async t => {
  const follows = (target: Link, more: object = {}) => {
    open('/')
    const isFollowed = click(target, more)
    t.equal(place.pathname === '/settings', isFollowed)
    return isFollowed
  }
  const link = (of: ConstructorParameters<typeof Link>[1] = {}) => new Link('/settings', of)
  t.equal(follows(link()), true)
  for (const more of [{ button: 1 }, { ctrlKey: true }, { metaKey: true }, { shiftKey: true }, { altKey: true }]) {
    t.equal(follows(link(), more), false, JSON.stringify(more))
  }
  for (const more of [{ target: '_blank' }, { download: '' }, { hash: '#top' }, { origin: 'https://other.example' }]) {
    t.equal(follows(link(more)), false, JSON.stringify(more))
  }
  const event = (target: unknown) => {
    const event = Object.assign(new Event('click', { cancelable: true }), { button: 0 })
    Object.defineProperty(event, 'target', { value: target })
    return event
  }
  open('/')
  const handled = event(link())
  handled.preventDefault()
  page.document.dispatchEvent(handled)
  page.document.dispatchEvent(event(page.document))
  t.same(paths(), ['/'], 'nor what was handled, or is no link')
})

t.test('a link that goes back does so, with its query', async (t: Test) => {
  open('/search?q=pears')
  go({ name: 'session', id: 's1', view: [] })
  click(new Link('/search?q=pears', { back: '' }))
  t.same([paths(), route.value], [['/search?q=pears'], { name: 'search', q: 'pears' }])
  open('/s/s1')
  click(new Link('/search?q=pears', { back: '' }))
  t.same(paths(), ['/search?q=pears'], 'without a step before, it replaces this one')
  click(new Link('/search?q=plums'))
  t.same([paths(), route.value], [['/search?q=pears', '/search?q=plums'], { name: 'search', q: 'plums' }])
})
