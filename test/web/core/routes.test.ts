import { readFileSync } from 'node:fs'
import t from 'tap'
import { parentOf, pathOf, type Route, readPath } from '../../../web/core/routes.ts'

const routes: [string, Route][] = [
  ['/', { name: 'home' }],
  ['/needs-you', { name: 'needs-you' }],
  ['/needs-you/r1', { name: 'needs-you', request: 'r1' }],
  ['/s/abc', { name: 'session', id: 'abc', view: [] }],
  ['/s/abc/m/12', { name: 'session', id: 'abc', view: ['m', '12'] }],
  ['/s/abc/changes/src/a%20b.ts', { name: 'session', id: 'abc', view: ['changes', 'src', 'a b.ts'] }],
  ['/machines', { name: 'machines' }],
  ['/machines/a%2Fb', { name: 'machine', id: 'a/b' }],
  ['/welcome', { name: 'welcome' }],
  ['/start', { name: 'start' }],
  ['/start/key', { name: 'start-key' }],
  ['/start/check', { name: 'start-check' }],
  ['/restore', { name: 'restore' }],
  ['/link', { name: 'link' }],
  ['/scan', { name: 'scan' }],
  ['/pair', { name: 'pair' }],
  ['/new', { name: 'new' }],
  ['/new?machine=m1&folder=%2Fhome%2Fa+b', { name: 'new', machine: 'm1', folder: '/home/a b' }],
  ['/settings', { name: 'settings' }],
  ['/settings/devices', { name: 'settings', page: 'devices' }],
  ['/settings/people', { name: 'settings', page: 'people' }],
  ['/settings/access', { name: 'settings', page: 'access' }],
  ['/settings/notifications', { name: 'settings', page: 'notifications' }],
  ['/settings/notifications/unanswered', { name: 'settings', page: 'notifications', item: 'unanswered' }],
  ['/settings/quiet', { name: 'settings', page: 'quiet' }],
  ['/settings/rules', { name: 'settings', page: 'rules' }],
  ['/settings/rules/r1', { name: 'settings', page: 'rules', item: 'r1' }],
  ['/settings/account-key', { name: 'settings', page: 'account-key' }],
  ['/settings/devices/d1', { name: 'settings', page: 'devices', item: 'd1' }],
  ...(['appearance', 'language', 'lock', 'storage', 'about'] as const).map((page): [string, Route] => [
    `/settings/${page}`,
    { name: 'settings', page }
  ]),
  ['/archive', { name: 'archive' }],
  ['/search', { name: 'search' }],
  ['/search?q=pears+%26+plums', { name: 'search', q: 'pears & plums' }],
  ['/search?q=pears&in=s1', { name: 'search', q: 'pears', in: 's1' }],
  ['/search?in=s1', { name: 'search', in: 's1' }],
  ['/new?prompt=Prune', { name: 'new', prompt: 'Prune' }]
]

const split = (path: string): [string, string] => {
  const [pathname = '', query = ''] = path.split('?')
  return [pathname, query]
}

t.test('every route can be opened cold, and resolves to the same address again', async t => {
  for (const [path, route] of routes) {
    t.strictSame(readPath(...split(path)), route, path)
    t.equal(pathOf(route), path)
  }
})

t.test("the address in a wrapper's link asks to link it", async t => {
  t.strictSame(readPath('/terminal/connect'), { name: 'pair' })
})

t.test('a trailing slash changes nothing', async t => {
  t.strictSame(readPath('/machines/'), { name: 'machines' })
  t.strictSame(readPath('/settings/'), { name: 'settings' })
})

t.test('an unknown route is reported, not guessed', async t => {
  for (const path of ['/start/nothing', '/settings/nothing', '/s', '/terminal', '/machine', '/%E0%A4%A']) {
    t.strictSame(readPath(path), { name: 'unknown', path }, path)
  }
})

t.test('back goes up, step by step, to home', async t => {
  for (const [path, route] of routes) {
    let at = route
    let steps = 0
    while (pathOf(at) !== '/' && steps < 5) {
      at = parentOf(at)
      if (at.name === 'welcome') at = { name: 'home' }
      steps++
    }
    t.ok(steps < 4, path)
  }
})

t.test('shared content starts a session with it: text, a link, or both once', t => {
  const { share_target: target } = JSON.parse(readFileSync('web/public/manifest.webmanifest', 'utf8'))
  t.match(target, { action: '/new', method: 'GET', params: { text: 'prompt', url: 'url' } })
  const shared = (query: Record<string, string>) => readPath('/new', `?${new URLSearchParams(query)}`)
  const page = 'https://example.org/a?b=c'
  t.strictSame(shared({ prompt: 'Read this' }), { name: 'new', prompt: 'Read this' })
  t.strictSame(shared({ url: page }), { name: 'new', prompt: page })
  t.strictSame(shared({ prompt: 'Read this', url: page }), { name: 'new', prompt: `Read this\n${page}` })
  t.strictSame(shared({ prompt: `See ${page}`, url: page }), { name: 'new', prompt: `See ${page}` })
  t.end()
})

t.test('a file name with half a surrogate pair has an address too', async t => {
  t.equal(pathOf({ name: 'session', id: 's1', view: ['files', 'a\uD800.ts'] }), '/s/s1/files/a%EF%BF%BD.ts')
})

t.test('back goes to the screen above, whichever way it was reached', async t => {
  const rows = [
    ['/s/abc/changes/src/a.ts', '/s/abc'],
    ['/s/abc', '/'],
    ['/needs-you/r1', '/'],
    ['/machines/m1', '/machines'],
    ['/machines', '/'],
    ['/settings', '/'],
    ['/settings/rules', '/settings'],
    ['/settings/rules/r1', '/settings/rules'],
    ['/settings/notifications/unanswered', '/settings/notifications'],
    ['/settings/quiet', '/settings/notifications'],
    ['/start', '/welcome'],
    ['/restore', '/welcome'],
    ['/link', '/welcome'],
    ['/start/check', '/start/key'],
    ['/start/key', '/'],
    ['/welcome', '/'],
    ['/archive', '/'],
    ['/search?q=pears', '/'],
    ['/new', '/']
  ] as const
  for (const [path, above] of rows) t.equal(pathOf(parentOf(readPath(...split(path)))), above, path)
})

t.test('an address below a screen that has no parts is unknown', async t => {
  for (const path of [
    '/new/pears',
    '/search/pears',
    '/archive/pears',
    '/settings/quiet/x',
    '/settings/about/x',
    '/settings/rules/r1/x',
    '/settings/devices/d1/x'
  ])
    t.strictSame(readPath(path), { name: 'unknown', path }, path)
  t.equal(pathOf({ name: 'unknown', path: '/settings/about/x' }), '/settings/about/x')
  t.strictSame(readPath('/%zz'), { name: 'unknown', path: '/%zz' })
})

t.test('parts of an address that are missing in its query are left out', async t => {
  t.strictSame(readPath('/search', ''), { name: 'search' })
  t.strictSame(readPath('/new', 'machine=m1'), { name: 'new', machine: 'm1' })
  t.strictSame(readPath('/new', 'folder=%2F'), { name: 'new', folder: '/' })
  t.strictSame(readPath('/new', 'prompt='), { name: 'new', prompt: '' })
})
