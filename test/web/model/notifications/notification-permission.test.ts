import t from 'tap'
import { pageGlobals } from '../../kit/page-globals.ts'

const android = 'Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36'
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148'
const ipad = 'Mozilla/5.0 (iPad; CPU OS 26_0 like Mac OS X) AppleWebKit/605.1.15'
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Safari/605.1.15'
const linux = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'

interface Browser {
  readonly userAgent?: string
  readonly maxTouchPoints?: number
  readonly userAgentData?: { mobile: boolean }
  readonly standalone?: boolean
  readonly matches?: boolean
  readonly isSecure?: boolean
  readonly lacks?: 'serviceWorker' | 'PushManager' | 'Notification'
  readonly permission?: NotificationPermission
}

const status = new EventTarget()
let now: Browser = {}
const page = pageGlobals(t)
set({})
const { isMobile, reach, refreshReach, watchReach } = await import('../../../../web/model/notifications/notification-permission.ts')

/** From now on the page is in this browser. */
function set(browser: Browser): void {
  now = browser
  const { userAgent = linux, maxTouchPoints = 0, userAgentData, standalone, matches = false, isSecure = true, lacks } = browser
  const globals: Record<string, unknown> = {
    navigator: {
      ...{ userAgent, maxTouchPoints, userAgentData, standalone, permissions: { query: async () => status } },
      ...(lacks !== 'serviceWorker' && { serviceWorker: {} })
    },
    isSecureContext: isSecure,
    matchMedia: (query: string) => ({ matches: matches && query === '(display-mode: standalone), (display-mode: fullscreen)' })
  }
  const optional = { PushManager: {}, Notification: { permission: browser.permission ?? 'default' } }
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true })
  for (const [name, value] of Object.entries(optional)) {
    if (name === lacks) Reflect.deleteProperty(globalThis, name)
    else Object.defineProperty(globalThis, name, { value, configurable: true })
  }
}

t.test('it is known why notifications cannot reach a browser', async t => {
  const rows: [Browser, string][] = [
    [{}, 'undetermined'],
    [{ permission: 'granted' }, 'granted'],
    [{ permission: 'denied' }, 'denied'],
    [{ isSecure: false, permission: 'granted' }, 'insecure'],
    [{ lacks: 'serviceWorker' }, 'unsupported'],
    [{ lacks: 'PushManager' }, 'unsupported'],
    [{ lacks: 'Notification' }, 'unsupported'],
    [{ userAgent: iphone }, 'needs-home-screen'],
    [{ userAgent: ipad }, 'needs-home-screen'],
    [{ userAgent: mac, maxTouchPoints: 5 }, 'needs-home-screen'],
    [{ userAgent: mac, maxTouchPoints: 1 }, 'undetermined'],
    [{ userAgent: linux, maxTouchPoints: 5 }, 'undetermined'],
    [{ userAgent: iphone, matches: true }, 'undetermined'],
    [{ userAgent: iphone, standalone: true, permission: 'granted' }, 'granted'],
    [{ userAgent: iphone, standalone: false }, 'needs-home-screen'],
    [{ userAgent: android }, 'undetermined']
  ]
  for (const [browser, expected] of rows) {
    set(browser)
    t.equal(refreshReach(), expected, JSON.stringify(browser))
    t.equal(reach.value, expected)
  }
})

t.test('phones and tablets are told from desktops', async t => {
  const rows: [Browser, boolean][] = [
    [{ userAgent: android }, true],
    [{ userAgent: iphone }, true],
    [{ userAgent: ipad }, true],
    [{ userAgent: mac, maxTouchPoints: 5 }, true],
    [{ userAgent: mac }, false],
    [{ userAgent: linux, maxTouchPoints: 10 }, false],
    [{ userAgentData: { mobile: true } }, true],
    [{ userAgentData: { mobile: false } }, false]
  ]
  for (const [browser, expected] of rows) {
    set(browser)
    t.equal(isMobile(), expected, JSON.stringify(browser))
  }
})

t.test('a permission changed elsewhere is noticed, once', async t => {
  set({})
  refreshReach()
  let changes = 0
  const stop = watchReach(() => changes++)
  await new Promise(setImmediate)
  page.show(true)
  status.dispatchEvent(new Event('change'))
  t.equal(changes, 0, 'nothing changed')
  set({ permission: 'denied' })
  status.dispatchEvent(new Event('change'))
  t.same([changes, reach.value], [1, 'denied'])
  page.show(true)
  t.equal(changes, 1)
  set({ permission: 'granted' })
  page.show(true)
  t.equal(changes, 2, 'by a browser that does not report it')
  stop()
  set({ permission: 'denied' })
  page.show(true)
  status.dispatchEvent(new Event('change'))
  t.equal(changes, 2)
})

t.test('a browser that cannot be asked for changes is not an error, and one asked too late is not watched', async t => {
  set({})
  refreshReach()
  Object.assign(navigator, { permissions: { query: () => Promise.reject(new TypeError('notifications')) } })
  watchReach(() => t.fail('nothing changed'))()
  Object.assign(navigator, { permissions: undefined })
  watchReach(() => t.fail('nothing changed'))()
  set(now)
  watchReach(() => t.fail('it is stopped'))()
  await new Promise(setImmediate)
  set({ permission: 'denied' })
  status.dispatchEvent(new Event('change'))
  t.equal(reach.value, 'undetermined')
})
