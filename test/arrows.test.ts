import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Import, importsOf, refusalOf } from './kit/arrows.ts'

const root = join(import.meta.dirname, '..')

t.test('every import goes the way of the arrows', async t => {
  const files = sources()
  t.ok(files.length > 50, `${files.length} sources`)
  t.same(
    files
      .flatMap(file => importsOf(file, readFileSync(join(root, file), 'utf8')))
      .map(refusalOf)
      .filter(refusal => refusal !== undefined),
    []
  )
})

const against: [from: string, specifier: string, isDynamic?: true][] = [
  ['lib/protocol/wire/routes.ts', 'node:crypto'],
  ['lib/protocol/wire/routes.ts', 'fs'],
  ['lib/protocol/wire/routes.ts', '../sealed/messages.ts'],
  ['lib/client/rest.ts', '../options.ts'],
  ['lib/client/rest.ts', '../server/ids.ts'],
  ['lib/client/rest.ts', 'undici'],
  ['lib/server/actions/messages.ts', '../edge/uws.ts'],
  ['lib/server/actions/messages.ts', '../hub.ts'],
  ['lib/server/actions/messages.ts', '../../crypto/sign.ts'],
  ['lib/server/actions/messages.ts', '../../../sqlite/store.ts', true],
  ['lib/server/actions/login.ts', '../../crypto/keys.ts'],
  ['lib/server/edge/http.ts', '../../protocol/sealed/messages.ts'],
  ['lib/server/hub.ts', './edge/engineio.ts'],
  ['lib/server/hub.ts', './actions/messages.ts'],
  ['lib/server/create.ts', 'uWebSockets.js'],
  ['lib/store/open.ts', '../../sqlite/store.ts'],
  ['lib/store/store.ts', '../bus/bus.ts'],
  ['lib/wrapper/run.ts', '../server/edge/uws.ts', true],
  ['lib/wrapper/run.ts', 'better-sqlite3', true],
  ['sqlite/store.ts', '../lib/server/ids.ts'],
  ['web/state/feed.ts', '../../lib/wrapper/run.ts'],
  ['web/state/feed.ts', '#crypto-engine'],
  ['web/state/feed.ts', '#crypto-signing'],
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

t.test('imports are found however they are written', async t => {
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
