import t from 'tap'
import { pageGlobals } from '../../kit/page-globals.ts'
import { sessionRow } from '../../kit/session-row.ts'

const browser = { caches: [] as string[], controller: undefined as object | undefined, installed: false }
pageGlobals(t, {
  navigator: {
    get serviceWorker() {
      return browser.controller && { controller: browser.controller }
    },
    userAgent: 'Firefox/145.0',
    languages: ['zh-CN', 'en'],
    onLine: true,
    storage: { estimate: async () => ({ usage: 5, quota: 9 }), persisted: async () => true }
  },
  caches: { keys: async () => browser.caches },
  matchMedia: (query: string) => ({ matches: query === '(display-mode: standalone)' && browser.installed }),
  innerWidth: 390,
  innerHeight: 844,
  devicePixelRatio: 3,
  BroadcastChannel: undefined
})
const { appVersion, askServer, diagnose, serverVersion } = await import('../../../../web/model/account/about.ts')
const { updateHome } = await import('../../../../web/model/home.ts')

const says = (body: unknown) => {
  const asked: string[] = []
  t.intercept(globalThis, 'fetch', {
    async value(url: string) {
      asked.push(url)
      return Response.json(body)
    }
  })
  return asked
}

t.test('what a server says of itself is read, and what it leaves out is assumed', async t => {
  const asked = says({ version: '1.2.3', program: 'npx afield', needsSetupCode: true, acceptsAccounts: false })
  t.same(await askServer(), { version: '1.2.3', program: 'npx afield', needsSetupCode: true, acceptsAccounts: false })
  t.equal(await serverVersion(), '1.2.3')
  t.same(asked, ['/health', '/health'])
  for (const body of [{}, null, 'ok', { version: 5, program: 5, needsSetupCode: 'yes', acceptsAccounts: 'no' }]) {
    says(body)
    t.same(await askServer(), { version: undefined, program: 'afield', needsSetupCode: false, acceptsAccounts: true }, JSON.stringify(body))
  }
})

/** The lines of a report, by their names. */
async function report(server?: string): Promise<Record<string, string>> {
  const [title, ...lines] = (await diagnose(server)).split('\n')
  t.equal(title, 'Afield diagnostics')
  return Object.fromEntries(lines.map(line => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]))
}

t.test('a report for troubleshooting names versions, states and counts, and nothing that is anybody\u2019s', async t => {
  updateHome({ type: 'cleared' })
  t.match(await report(), {
    ...{ app: appVersion, kept: 'nothing', worker: 'none', server: 'not known', browser: 'Firefox/145.0', language: 'en' },
    ...{ languages: 'zh-CN en', screen: '390x844 at 3', installed: 'false', online: 'true', account: 'opening', connection: 'starting' },
    ...{ socket: 'not known', feed: 'not known', 'dropped frames': 'not known', 'messages waiting': 'not known' },
    ...{ sessions: '0', 'sessions that open': '0', machines: '0', 'last listed': 'never' },
    ...{ 'bytes kept': '5', 'bytes allowed': '9', 'kept for good': 'true' },
    ...{ theme: 'system', confirming: 'hold', lock: 'off', 'less data': 'false', notifications: 'none' }
  })
  const metadata = { path: '/secret', host: 'studio' }
  updateHome({ type: 'session', session: { ...sessionRow, id: 's1', metadata } })
  updateHome({ type: 'session', session: { ...sessionRow, id: 's2', metadata: undefined } })
  updateHome({ type: 'confirmed', at: Date.UTC(2030, 0, 1) })
  Object.assign(browser, { caches: ['app-1', 'app-2'], controller: { state: 'activated' }, installed: true })
  t.intercept(globalThis, 'Notification' as never, { value: { permission: 'denied' } })
  const now = await report('1.2.3')
  t.match(now, {
    ...{ kept: 'app-1 app-2', worker: 'activated', server: '1.2.3', installed: 'true', notifications: 'denied' },
    ...{ sessions: '2', 'sessions that open': '1', 'last listed': '2030-01-01T00:00:00.000Z' }
  })
  t.notMatch(JSON.stringify(now), 'secret')
})
