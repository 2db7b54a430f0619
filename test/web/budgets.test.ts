import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { accessKeyRoutes } from '../../lib/protocol/wire/routes/access-keys.ts'
import { artifactRoutes } from '../../lib/protocol/wire/routes/artifacts.ts'
import { kvListRoutes } from '../../lib/protocol/wire/routes/kv-lists.ts'
import { pushRoutes } from '../../lib/protocol/wire/routes/push.ts'
import { unsupportedRoutes } from '../../lib/protocol/wire/routes/unsupported.ts'
import { usageRoutes } from '../../lib/protocol/wire/routes/usage.ts'
import { lucide } from '../../web/ui/icons/lucide.ts'
import { laterChinese } from '../../web/words/zh/later.ts'

interface Output {
  entryPoint?: string
  inputs: Record<string, unknown>
  imports: { path: string; kind: string }[]
}

const outputs: Record<string, Output> = JSON.parse(readFileSync('build/app.json', 'utf8'))

const sources = ['web', 'lib/client'].flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file))
    .map(file => join(folder, file))
)

/** The scripts that are already loaded when a screen is opened. */
const client = allOf('web/app/first.ts', 'web/app/main.tsx', 'web/model/account/live.ts')
const session = allOf('web/app/first.ts', 'web/app/main.tsx', 'web/model/account/live.ts', 'web/session/session.tsx')

// The budget is 150 in all: 60 for the shell and 45 for each of the others, with some of the shell's moved to them. Names of scripts
// are hashes of their content, so a change of any of them makes the shell that names it some fifty bytes larger or smaller.
t.test('the initial load on a phone stays small, in kB compressed', async t => {
  const shell = allOf('web/app/first.ts', 'web/app/main.tsx')
  within(t, 'the shell and Home', weigh(shell), 52.4)
  within(t, 'what speaks to the server and opens what it says', weigh(without(client, shell)), 47.6)
  within(t, 'a session', weigh(without(allOf('web/session/session.tsx'), client)), 49.4)
  within(t, 'all of it', weigh(session), 150)
})

t.test('the app shell contains no text used before its language is loaded', async t => {
  const inShell = allOf('web/app/first.ts', 'web/app/main.tsx').flatMap(path => Object.keys(outputs[path]?.inputs ?? {}))
  const later = Object.keys(laterChinese).map(name => `web/words/${name}.ts`)
  t.same(
    inShell.filter(source => later.includes(source)),
    []
  )
  t.ok(inShell.includes('web/words/app.ts') && later.includes('web/words/session.ts'))
})

t.test('everything else loads when used, in small parts', async t => {
  for (const { entryPoint } of Object.values(outputs)) {
    if (entryPoint === undefined || entryPoint.endsWith('.css') || allOf(entryPoint).every(each => session.includes(each))) continue
    const most = entryPoint.startsWith('web/words/') ? 12 : 35
    within(t, entryPoint, weigh(without(allOf(entryPoint), session)), most)
  }
})

// The browser may start it for each page load; it contains the code to open previews and renew sign-ins.
t.test('the service worker stays small', async t => {
  within(t, 'the service worker', brotliCompressSync(readFileSync('build/web/worker.js')).length, 48)
})

t.test('styles and icons stay small', async t => {
  const sheets = Object.keys(outputs).filter(path => path.endsWith('.css'))
  // Half a kilobyte more than the design planned, for doubled text sizes and targets of 44 px.
  within(t, 'styles', weigh(sheets), 16.5)
  within(t, 'icons', brotliCompressSync(JSON.stringify(lucide)).length, 8)
})

t.test('the app requests no route that was left out of it', async t => {
  const names = Object.keys({ ...accessKeyRoutes, ...artifactRoutes, ...kvListRoutes, ...unsupportedRoutes, ...usageRoutes })
  t.same(sourcesThatAsk(names), [])
  t.ok(sources.length > 200 && names.length > 10)
})

t.test('notification routes are loaded only by their users', async t => {
  const asking = sourcesThatAsk(Object.keys(pushRoutes))
  t.same(
    asking.filter(file => !readFileSync(file, 'utf8').includes("/notification-routes.ts'")),
    [],
    'who asks brings them'
  )
  const first = session.flatMap(path => Object.keys(outputs[path]?.inputs ?? {}))
  t.notOk(first.includes('lib/protocol/wire/routes/push.ts'))
  t.ok(first.includes('lib/protocol/wire/routes/changes.ts'))
})

t.test('the bundler names only files that exist', async t => {
  const named = ['web/bundle.mjs', 'web/bundling.mjs'].flatMap(
    file => readFileSync(file, 'utf8').match(/\b(?:web|lib)\/[\w/-]+\.tsx?\b/g) ?? []
  )
  t.same(
    named.filter(path => !existsSync(path)),
    []
  )
  t.ok(named.length > 20)
})

function sourcesThatAsk(names: readonly string[]): string[] {
  const asks = new RegExp(`call\\(\\s*'(?:${names.join('|')})'`)
  return sources.filter(file => asks.test(readFileSync(file, 'utf8')))
}

function within(t: Test, what: string, bytes: number, most: number): void {
  t.ok(bytes <= most * 1000, `${what}: ${(bytes / 1000).toFixed(1)} of ${most}`)
}

/** The scripts that are loaded before one of these sources runs. */
function allOf(...sources: string[]): string[] {
  const found = new Set<string>()
  const add = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') add(next)
  }
  for (const source of sources) {
    const path = Object.keys(outputs).find(each => outputs[each]?.entryPoint === source)
    if (path === undefined) throw new Error(`${source} has no script of its own.`)
    add(path)
  }
  return [...found]
}

function without(paths: readonly string[], others: readonly string[]): string[] {
  return paths.filter(path => !others.includes(path))
}

function weigh(paths: readonly string[]): number {
  return paths.reduce((sum, path) => sum + brotliCompressSync(readFileSync(`build/web/assets/${basename(path)}`)).length, 0)
}
