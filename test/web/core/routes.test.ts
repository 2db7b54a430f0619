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
  ['/settings/account-key', { name: 'settings', page: 'account-key' }]
]

t.test('every route can be opened cold, and resolves to the same address again', async t => {
  for (const [path, route] of routes) {
    const [pathname = '', query = ''] = path.split('?')
    t.strictSame(readPath(pathname, query), route, path)
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
