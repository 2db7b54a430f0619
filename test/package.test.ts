import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import t from 'tap'
import { openChromium } from './kit/chromium.ts'

const root = join(import.meta.dirname, '..')
const empty = t.testdir()
const project = join(empty, 'project')
const installed = join(project, 'node_modules/afield')

// The package as npm would publish it, in an empty project with its dependencies and nothing else. They are links to those
// of this checkout, so that the registry is not asked.
execFileSync(process.execPath, [join(root, 'build.mjs'), 'library'], { stdio: 'ignore' })
execFileSync('npm', ['pack', '--silent', '--pack-destination', empty], { cwd: join(root, 'dist') })
const manifest = JSON.parse(readFileSync(join(root, 'dist/package.json'), 'utf8'))
mkdirSync(installed, { recursive: true })
execFileSync('tar', ['xzf', join(empty, `afield-${manifest.version}.tgz`), '--strip-components=1', '-C', installed])
for (const name of [...Object.keys(manifest.dependencies), '@types/node']) {
  mkdirSync(dirname(join(project, 'node_modules', name)), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name))
}
writeFileSync(join(project, 'package.json'), '{ "type": "module" }')

const readme = readFileSync(join(installed, 'README.md'), 'utf8')
const [example = ''] = [...readme.matchAll(/^```ts\n(import \{ createServer.*?)^```$/gms)].map(([, code]) => code)

t.test('the package has what its manifest names, and the licence of all it ships', async t => {
  const named = (value: unknown): string[] =>
    typeof value === 'object' && value !== null ? Object.values(value).flatMap(named) : [String(value)]
  for (const file of [...named(manifest.exports), ...named(manifest.imports), ...named(manifest.bin), ...manifest.files])
    t.ok(existsSync(join(installed, file)), file)
  for (const page of ['README.md', ...readdirSync(join(installed, 'docs')).map(name => `docs/${name}`)].filter(name =>
    name.endsWith('.md')
  ))
    for (const [, to = ''] of readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)[^)]*\)/g))
      t.ok(existsSync(join(installed, dirname(page), to)), `${page}: ${to}`)
  const licences = readFileSync(join(installed, 'licences.txt'), 'utf8')
  for (const bundled of ['Afield', 'fast-check', 'pure-rand']) t.match(licences, new RegExp(`^${bundled}\\b`, 'm'))
  t.notOk('private' in manifest)
})

t.test('its types are complete without skipLibCheck, as Node.js and as a bundler resolve them', async t => {
  writeFileSync(join(project, 'uses.ts'), uses)
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['preserve', 'bundler']
  ] as const) {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      target: 'es2022',
      types: ['node'],
      module,
      moduleResolution: resolution
    }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['uses.ts'] }))
    const { stdout, status } = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', project], {
      encoding: 'utf8'
    })
    t.equal(stdout, '', resolution)
    t.equal(status, 0)
  }
})

const uses = `
import { createServer, openStore, type Server } from 'afield'
import { createRest, openSocket, readBackupKey } from 'afield/client'
import { checkWith, storeContract } from 'afield/contracts'
import { type BodyOf, routes, type Sealed, type Update } from 'afield/protocol'
export const body: BodyOf<'callMethod'> = { method: 'id:name', params: 'c21hbGw=' as Sealed }
export const server: Promise<Server> = createServer({ port: 0, onEvent: event => event.account.length })
export const others: unknown[] = [openStore, createRest, openSocket, readBackupKey('x').ok, checkWith, storeContract, routes]
export type Received = Update['body']['t']
`

for (const version of ['own', '22.23.3', '25.9.0']) {
  const node = version === 'own' ? process.execPath : otherNode(version)
  t.test(`the example of its README runs on Node.js ${version}`, { skip: node ? false : 'the registry is out of reach' }, async t => {
    const at = t.testdir({ 'example.mjs': example })
    symlinkSync(join(project, 'node_modules'), join(at, 'node_modules'))
    const { stdout, stderr, status } = spawnSync(node ?? '', ['example.mjs'], { cwd: at, encoding: 'utf8' })
    t.equal(status, 0, stderr)
    t.match(stdout, /^listening on http:\/\/127\.0\.0\.1:4000$/m)
  })
}

const old = otherNode('20.20.2')
t.test('on Node.js 20 it throws one sentence', { skip: old ? false : 'the registry is out of reach' }, async t => {
  const { stdout, status } = spawnSync(old ?? '', ['-e', "import('afield').catch(error => console.log(error.message))"], {
    cwd: project,
    encoding: 'utf8'
  })
  t.equal(stdout, 'Afield needs Node.js 22.19 or newer (24 is best), this is 20.20.2.\n')
  t.equal(status, 0)
})

t.test('its command serves the app', async t => {
  const bin = join(installed, manifest.bin.afield)
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', '--data', join(t.testdir(), 'data')], { cwd: project })
  t.teardown(() => child.kill())
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^afield listening on (\S+)$/.exec(line)?.[1]
    if (url === undefined) continue
    t.match(await (await fetch(url, { headers: { accept: 'text/html' } })).text(), '<title>Afield</title>')
    break
  }
  child.kill()
  t.same(await once(child, 'exit'), [0, null])
})

t.test('its client can be bundled for a browser, and runs there', async t => {
  const script = `import { cryptoReady, formatBackupKey, readBackupKey } from 'afield/client'
    globalThis.result = cryptoReady().then(() => readBackupKey(formatBackupKey(new Uint8Array(32).fill(7))))`
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: project },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    logLevel: 'silent'
  })
  const page = await (await openChromium(t)).newPage()
  await page.addScriptTag({ content: outputFiles[0]?.text ?? '' })
  t.same(await page.evaluate('result.then(({ ok, secret }) => [ok, ...secret])'), [true, ...Array(32).fill(7)])
})

t.test('its contracts pass with our drivers and reject a store that loses a message', async t => {
  // A part of them, for the others have their tests with the drivers.
  const run = (store: string, sample: string) => {
    const at = t.testdir({ 'contract.mjs': contractOf(store) })
    symlinkSync(join(project, 'node_modules'), join(at, 'node_modules'))
    return spawnSync(process.execPath, ['--test-name-pattern', sample, 'contract.mjs'], { cwd: at, encoding: 'utf8' })
  }
  const whole = run('store', 'message|listener|bus')
  t.equal(whole.status, 0, whole.stdout)
  t.match(whole.stdout, /pass [1-9]\d/)
  const losing = run(
    "new Proxy(store, { get: (own, name) => name === 'readMessages' ? async () => [] : own[name]?.bind?.(own) ?? own[name] })",
    'a batch'
  )
  t.equal(losing.status, 1)
})

const contractOf = (store: string) => `
import { mkdtempSync } from 'node:fs'
import { test } from 'node:test'
import { openBus, openStore } from 'afield'
import { busContract, checkWith, storeContract } from 'afield/contracts'
storeContract(checkWith(test), t => {
  const dataDirectory = mkdtempSync('data-')
  return async () => {
    const store = await openStore('sqlite:afield.db', { dataDirectory, onBroken: reason => t.fail(reason.message) })
    return ${store}
  }
})
busContract(checkWith(test), t => ({
  async open(on = { onError: error => t.fail(String(error)) }) {
    const bus = await openBus('local', on)
    t.teardown(() => bus.close())
    return bus
  }
}), { instances: 'one' })
`

/** The program of another version, from the registry; undefined when that is out of reach. */
function otherNode(version: string): string | undefined {
  const name = `node-${process.platform}-${process.arch}`
  const folder = join(root, 'build/nodes', version)
  const program = join(folder, 'node_modules', name, 'bin/node')
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{}')
    spawnSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--no-save', `${name}@${version}`], {
      cwd: folder,
      timeout: 60_000
    })
  }
  return existsSync(program) ? program : undefined
}
