import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { circlesOf, type Import, importsOf, refusalOf, sharedNamesOf, storeNamesOf } from './kit/arrows.ts'

const root = join(import.meta.dirname, '..')
const texts = sources().map(file => [file, readFileSync(join(root, file), 'utf8')] as const)
const imports = texts.flatMap(([file, text]) => importsOf(file, text))

t.test('every import follows the arrows', async t => {
  t.ok(imports.length > 1000, `${imports.length} imports`)
  t.same(
    imports.map(refusalOf).filter(refusal => refusal !== undefined),
    []
  )
})

t.test('imports form no cycles', async t => {
  t.same(circlesOf(imports), [])
})

t.test('an exported name means one thing within its part', async t => {
  t.same(sharedNamesOf(texts), [])
})

t.test('private members are written #name', async t => {
  const isOldStyle = ([, text]: (typeof texts)[number]) => /^\s+(?:private|protected) (?!constructor\b)/m.test(text)
  t.same(
    texts.filter(isOldStyle).map(([file]) => file),
    []
  )
})

t.test('the edge and the control socket pass the store to actions and query nothing themselves', async t => {
  t.same(storeNamesOf(texts), [])
})

t.test('a store queried by the edge is found; its name in types and comments does not count', async t => {
  const asked = storeNamesOf([
    ['lib/server/edge/http/a.ts', 'deps.store.listSignups(deps.time())'],
    ['lib/server/edge/socket/b.ts', 'const { bus, store } = deps'],
    ['lib/server/control/c.ts', 'run: async ({ store }) => ({ known: await store.hasAccounts() })'],
    ['lib/server/edge/d.ts', "// The store.\ntype D = Pick<Deps, 'store'>\n/* store */ const cache = 'no-store'"],
    ['lib/server/actions/e.ts', 'deps.store.listSignups(deps.time())']
  ])
  t.same(asked, ['lib/server/edge/http/a.ts', 'lib/server/edge/socket/b.ts', 'lib/server/control/c.ts'])
})

t.test('a name declared in two files of one part is found; one declared in two parts is not', async t => {
  const shared = sharedNamesOf([
    ['lib/server/a.ts', 'export interface Place {}\nexport const place = 1\nexport function other() {}'],
    ['lib/store/b.ts', 'export type Place = 1\nexport { place } from "../server/a.ts"'],
    ['lib/wrapper/c.ts', 'export class Place {}'],
    ['lib/wrapper/agents/one/d.ts', 'export async function other() {}'],
    ['lib/wrapper/agents/two/e.ts', 'export async function other() {}'],
    ['bin/commands/f.ts', 'export const builder = 1'],
    ['bin/commands/g.ts', 'export const builder = 1'],
    ['web/h.ts', 'export abstract class Row {}\nexport type Row = 1'],
    ['web/i.ts', 'export function* other() {}\nconst Row = 1']
  ])
  t.same(shared, ['Place: lib/server/a.ts, lib/store/b.ts'])
})

t.test('every shape of cycle is found', async t => {
  const text = {
    'lib/a.ts': "import { b } from './b/b.ts'",
    'lib/b/b.ts': "import type { C } from '../c.ts'",
    'lib/c.ts': "const a = await import('./a.ts')",
    'lib/d.ts': "import './a.ts'\nimport './e.ts'",
    'lib/e.ts': "export { e } from './f.ts'",
    'lib/f.ts': "import './e.ts'",
    'lib/g.ts': "import './g.ts'"
  }
  t.same(circlesOf(Object.entries(text).flatMap(([file, lines]) => importsOf(file, lines))), [
    ['lib/a.ts', 'lib/b/b.ts', 'lib/c.ts'],
    ['lib/e.ts', 'lib/f.ts'],
    ['lib/g.ts']
  ])
})

const against: [from: string, specifier: string, isDynamic?: true][] = [
  ['lib/protocol/wire/routes.ts', 'node:crypto'],
  ['lib/protocol/wire/routes.ts', 'fs'],
  ['lib/protocol/wire/routes.ts', '../sealed/messages.ts'],
  ['lib/client/link/rest.ts', '../../options.ts'],
  ['lib/client/link/rest.ts', '../../server/ids.ts'],
  ['lib/client/link/rest.ts', 'undici'],
  ['lib/client/link/rest.ts', '../feed/feed.ts'],
  ['lib/client/sealed/messages.ts', '../outbox/journal.ts'],
  ['lib/server/actions/sessions/messages.ts', '../../edge/listen/uws.ts'],
  ['lib/server/actions/sessions/messages.ts', '../../hub/hub.ts'],
  ['lib/server/actions/sessions/messages.ts', '../../../crypto/sign.ts'],
  ['lib/server/actions/sessions/messages.ts', '../../../../sqlite/store.ts', true],
  ['lib/server/actions/sign-in/login.ts', '../../../crypto/keys.ts'],
  ['lib/server/edge/http/http.ts', '../../../protocol/sealed/messages.ts'],
  ['lib/server/edge/http/http.ts', '../socket/socketio.ts'],
  ['lib/server/edge/listen/listener.ts', '../http/reply.ts'],
  ['lib/server/edge/app.ts', '../../store/store.ts'],
  ['lib/server/edge/http/handlers.ts', '../../../store/rows.ts'],
  ['lib/server/edge/socket/events.ts', '../../../store/open.ts', true],
  ['lib/server/edge/listen/listener.ts', '../../../store/quotas.ts'],
  ['lib/server/control/users.ts', '../../store/access/signup.ts'],
  ['lib/server/hub/hub.ts', '../edge/socket/engineio.ts'],
  ['lib/server/hub/hub.ts', '../actions/sessions/messages.ts'],
  ['lib/server/chores/presence.ts', '../actions/sessions/messages.ts'],
  ['lib/server/watch/metrics.ts', '../chores/backups.ts'],
  ['lib/server/limits.ts', './watch/log.ts'],
  ['lib/server/create.ts', 'uWebSockets.js'],
  ['lib/store/open.ts', '../../sqlite/store.ts'],
  ['lib/store/open.ts', '../../sqlite/file/inspect.ts'],
  ['sqlite/engine/commit-queue.ts', '../rows/messages.ts'],
  ['sqlite/access/tokens.ts', '../rows/sessions.ts'],
  ['lib/store/store.ts', '../bus/bus.ts'],
  ['lib/wrapper/run/run.ts', '../../server/edge/uws.ts', true],
  ['lib/wrapper/run/run.ts', 'better-sqlite3', true],
  ['lib/wrapper/session/turns.ts', '../run/run.ts'],
  ['lib/wrapper/agents/acp/acp.ts', '../../session/session.ts'],
  ['lib/wrapper/uplink/uplink.ts', '../session/output/narrator.ts'],
  ['lib/wrapper/home/session-folder.ts', '../uplink/live.ts'],
  ['sqlite/store.ts', '../lib/server/ids.ts'],
  ['web/ui/button.tsx', '../core/router.ts'],
  ['web/model/home.ts', '../home/home.tsx', true],
  ['web/model/home.ts', 'preact'],
  ['web/session/session.tsx', '../machines/machine.tsx'],
  ['web/new/form.tsx', '../settings/rules.tsx'],
  ['web/session/decide/dock.tsx', '../composer/composer.tsx'],
  ['web/model/feed.ts', '../../lib/wrapper/run/run.ts'],
  ['web/model/feed.ts', '#crypto-engine'],
  ['web/model/feed.ts', '#crypto-signing'],
  ['bin/commands/run.ts', '../../lib/server/create.ts', true],
  ['bin/commands.ts', './commands/serve.ts'],
  ['lib/assets.ts', './exit.ts'],
  ['lib/utils.ts', './exit.ts']
]

for (const [from, specifier, isDynamic = false] of against) {
  t.test(`${from} may not import ${specifier}`, async t => {
    const refusal = refusalOf({ from, specifier, isDynamic })
    t.ok(refusal, refusal ?? 'was let through')
  })
}

t.test('imports are found in every notation', async t => {
  const text = `
import './a.ts'
import type { B } from './b.ts'
import {
  C,
  D
} from './c.ts'
export * from './d.ts'
const e = await import('./e.ts')
require('f')`
  const found: Import[] = importsOf('lib/x.ts', text)
  t.same(
    found.map(one => [one.specifier, one.isDynamic]),
    [
      ['./a.ts', false],
      ['./b.ts', false],
      ['./c.ts', false],
      ['./d.ts', false],
      ['./e.ts', true],
      ['f', true]
    ]
  )
})

function sources(): string[] {
  const folders = readdirSync(root).filter(name => ['lib', 'bin', 'web', 'sqlite', 'postgres', 'redis'].includes(name))
  return folders.flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .map(path => `${folder}/${path.replaceAll('\\', '/')}`)
      .filter(path => /\.tsx?$/.test(path))
  )
}
