// node build.mjs <step> …
//   start [command …]   the program from source; without a command, `serve`
//   test [files]        the tests
//   check               types, lint, tests; import arrows and generated pages are among the tests
//   build               the library in dist/ and the single-file program build/afield
//   bench [name]        ratios to a bare baseline, one file per promise in bench/
//   crash [--rounds N]  kills the server, or cuts the power of its disk, under load, far more often than the tests do; see test/crash/run.ts
//   fuzz [--seconds N]  sends the server everything but what it expects, far longer than the tests do; see test/fuzz/run.ts
//   cuts [--seconds 15,30,60]  takes the link from an agent that goes on, far longer than the tests do; see test/link-down/run.ts
//   endure [trial …]    readers cut off, endings under load, dawdlers, stalled readers and floods by the thousand; see test/endurance/run.ts
//   storm [--clients N] kills a server that thousands of clients are connected to, and starts it anew; see test/storm/run.ts
//   mutate              takes each predicate of ownership out of the store, and sees whether the tests notice
//   format              formats and sorts imports
//   docs                writes the generated pages of docs/
//   web                 bundles the app into build/web
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'

const root = fileURLToPath(new URL('.', import.meta.url))
const at = (...parts) => join(root, ...parts)
const require = createRequire(import.meta.url)
const isWindows = process.platform === 'win32'

// Set for the one process that goes on with the pinned Node.js, and for nothing that it starts.
const secondTry = 'AFIELD_ON_PINNED_NODE'
const isSecondTry = process.env[secondTry] !== undefined
delete process.env[secondTry]

/** Runs in this process, so that a signal has one process less to travel through. */
async function start(...args) {
  if (isAppStale()) await bundleApp()
  const hasCommand = args[0] !== undefined && (!args[0].startsWith('-') || ['--help', '-h', '--version'].includes(args[0]))
  process.argv = [process.execPath, at('bin/afield.ts'), ...(hasCommand ? args : ['serve', ...args])]
  await import('./bin/afield.ts')
}

async function test(...files) {
  if (isAppStale()) await bundleApp()
  const tap = at('node_modules/tap/dist/esm/run.mjs')
  const built = at('node_modules/.tap-built')
  if (!existsSync(built)) {
    // Once per install: tap's class without its TypeScript loader, since Node.js runs the tests itself.
    await run(tap, 'build')
    writeFileSync(built, '')
  }
  await run(tap, ...files)
}

async function check() {
  await types()
  await run(at('node_modules/@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.')
  await test()
}

async function types() {
  await run(at('node_modules/typescript/bin/tsc'), '-p', root)
  await run(at('node_modules/typescript/bin/tsc'), '-p', at('web'))
}

async function build() {
  await bundleApp()
  await library()
  await binary()
}

async function bench(name) {
  const files = readdirSync(at('bench')).filter(file => (name ? file === `${name}.ts` : file.endsWith('.ts')))
  if (files.length === 0) fail(`There is no bench/${name}.ts.`)
  for (const file of files) await run(at('bench', file))
}

async function crash(...args) {
  await run(at('test/crash/run.ts'), ...args)
}

async function fuzz(...args) {
  await run(at('test/fuzz/run.ts'), ...args)
}

async function cuts(...args) {
  await run(at('test/link-down/run.ts'), ...args)
}

async function storm(...args) {
  await run(at('test/storm/run.ts'), ...args)
}

async function endure(...args) {
  await run(at('test/endurance/run.ts'), ...args)
}

async function mutate() {
  await run(at('test/mutation/run.ts'))
}

async function format() {
  await run(at('node_modules/@biomejs/biome/bin/biome'), 'check', '--write', '.')
}

async function docs() {
  const [{ pages }, { apiPage }] = await Promise.all([import('./docs/pages.ts'), import('./docs/api.ts')])
  for (const [path, text] of Object.entries({ ...pages(), 'docs/api.md': apiPage() })) writeFileSync(at(path), text)
}

// ES2022 and module splitting reach back to Safari 16.4, the first with web push on a phone.
const forBrowsers = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: ['es2022', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true
}

async function bundleApp() {
  mkdirSync(at('build'), { recursive: true })
  const out = mkdtempSync(at('build/web-'))
  chmodSync(out, 0o755)
  try {
    await bundleAppInto(out)
  } catch (error) {
    rmSync(out, { recursive: true })
    if (!error.errors) throw error
    // esbuild has said what is wrong and where.
    fail('The app could not be bundled.')
  }
}

/** The app: scripts and styles under names that change with their content, then the page and the service worker that know these names. */
async function bundleAppInto(out) {
  const { build, stop } = await import('esbuild')
  const began = performance.now()
  const { metafile } = await build({
    ...forBrowsers,
    entryPoints: { main: 'web/main.tsx', style: 'web/style/index.css' },
    outdir: join(out, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    publicPath: '/assets/',
    splitting: true,
    loader: { '.svg': 'file', '.png': 'file', '.woff2': 'file' }
  })
  const urlOf = output => `/assets/${output.slice(output.lastIndexOf('/') + 1)}`
  const outputOf = entry => Object.keys(metafile.outputs).find(output => metafile.outputs[output].entryPoint === entry)
  if (existsSync(at('web/public'))) cpSync(at('web/public'), out, { recursive: true })
  const page = readFileSync(at('web/index.html'), 'utf8')
    .replaceAll('%SCRIPT%', urlOf(outputOf('web/main.tsx')))
    .replaceAll('%STYLE%', urlOf(outputOf('web/style/index.css')))
  writeFileSync(join(out, 'index.html'), page)

  const urls = filesUnder(out).map(file => `/${relative(out, file).split(sep).join('/')}`)
  await build({
    ...forBrowsers,
    entryPoints: { worker: 'web/worker.ts' },
    outdir: out,
    define: { ASSETS: JSON.stringify(urls), BUILD: JSON.stringify(contentHash(out)) }
  })
  await stop()
  replaceDirectory(at('build/web'), out)
  const script = scriptsOfFirstLoad(metafile, outputOf('web/main.tsx'))
  const files = script.map(output => readFileSync(at('build/web/assets', output.slice(output.lastIndexOf('/') + 1))))
  const packed = files.reduce((sum, file) => sum + brotliCompressSync(file).length, 0)
  console.log(`app bundled in ${Math.round(performance.now() - began)} ms; first script ${kB(packed)} compressed`)
}

function scriptsOfFirstLoad({ outputs }, first, seen = new Set()) {
  if (seen.has(first)) return [...seen]
  seen.add(first)
  for (const { path, kind } of outputs[first].imports) if (kind === 'import-statement') scriptsOfFirstLoad({ outputs }, path, seen)
  return [...seen]
}

function contentHash(directory) {
  const hash = createHash('sha256')
  for (const file of filesUnder(directory)) hash.update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function isAppStale() {
  const built = statSync(at('build/web/index.html'), { throwIfNoEntry: false })
  if (!built) return true
  const sources = ['web', 'lib/client', 'lib/crypto', 'lib/protocol', 'lib/async', 'build.mjs', 'package-lock.json']
  return sources.some(source => newestChange(at(source)) > built.mtimeMs)
}

// A directory's own time counts too: it moves when a file in it is removed.
function newestChange(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) return 0
  if (!stats.isDirectory()) return stats.mtimeMs
  return readdirSync(path).reduce((newest, name) => Math.max(newest, newestChange(join(path, name))), stats.mtimeMs)
}

const forNode = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node22', legalComments: 'none', logLevel: 'warning' }

/** The package for embedders: ES modules that leave their dependencies to npm, with declarations, the SQL and the app. */
async function library() {
  const { build, stop } = await import('esbuild')
  rmSync(at('dist'), { recursive: true, force: true })
  const esm = { ...forNode, format: 'esm', packages: 'external', splitting: true, chunkNames: 'chunk-[hash]', sourcemap: true }
  await build({
    ...esm,
    entryPoints: { index: 'lib/index.ts', client: 'lib/client/index.ts', afield: 'bin/afield.ts' },
    outdir: 'dist/lib'
  })
  await build({ ...esm, platform: 'browser', entryPoints: { client: 'lib/client/index.ts' }, outdir: 'dist/browser' })
  await stop()
  await declarations()
  for (const { name } of readdirSync(at('sqlite'), { withFileTypes: true }))
    if (name.endsWith('.sql')) cpSync(at('sqlite', name), at('dist/sqlite', name))
  cpSync(at('build/web'), at('dist/web'), { recursive: true })
  for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md']) if (existsSync(at(file))) cpSync(at(file), at('dist', file))
  writeFileSync(at('dist/package.json'), `${JSON.stringify(libraryManifest(), null, 2)}\n`)
  console.log(`dist/ ${kB(filesUnder(at('dist')).reduce((sum, file) => sum + statSync(file).size, 0))}`)
}

function libraryManifest() {
  const { name, version, description, license, type, engines, dependencies } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  const client = { types: './types/lib/client/index.d.ts', browser: './browser/client.js', default: './lib/client.js' }
  const exports = { '.': { types: './types/lib/index.d.ts', default: './lib/index.js' }, './client': client }
  return { name, version, description, license, type, engines, exports, bin: { [name]: 'lib/afield.js' }, dependencies }
}

async function declarations() {
  const config = at('build/tsconfig.json')
  const compilerOptions = { noEmit: false, declaration: true, emitDeclarationOnly: true, rootDir: '..', outDir: '../dist/types' }
  writeFileSync(config, JSON.stringify({ extends: '../tsconfig.json', include: ['../lib'], exclude: [], compilerOptions }))
  await run(at('node_modules/typescript/bin/tsc'), '-p', config)
}

/** One executable: a copy of this Node.js with the bundle, the native addons, the SQL and the app inside. */
async function binary() {
  if (isAppStale()) await bundleApp()
  const work = at('build/binary')
  const program = join(work, 'afield.cjs')
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  await bundleProgram(program)

  const executable = at('build', isWindows ? 'afield.exe' : 'afield')
  const pkgPlatform = { darwin: 'macos', win32: 'win' }[process.platform] ?? process.platform
  const target = { platform: pkgPlatform, arch: process.arch, nodeRange: `node${process.versions.node}`, output: executable }
  require('pkg/lib-es5/options').default.set({})
  const assets = await assetsOfProgram(work)
  await require('pkg/lib-es5/sea').default(program, {
    targets: [target],
    nodePath: process.execPath,
    signature: true,
    seaConfig: { assets, useCodeCache: true }
  })
  chmodSync(executable, 0o755)
  console.log(`build/afield ${(statSync(executable).size / 1e6).toFixed(1)} MB`)
}

async function bundleProgram(outfile) {
  const { build, stop } = await import('esbuild')
  await build({
    ...forNode,
    entryPoints: ['bin/binary.ts'],
    outfile,
    format: 'cjs',
    target: 'node24',
    minify: true,
    keepNames: true,
    lineLimit: 160,
    plugins: [embeddedPty],
    // The first is loaded as an asset; the others are optional accelerators that `ws` does without.
    external: ['uWebSockets.js', 'bufferutil', 'utf-8-validate'],
    define: { 'import.meta.url': 'bundleUrl' },
    banner: { js: 'const bundleUrl = require("node:url").pathToFileURL(__filename).href;' }
  })
  await stop()
}

// This package knows no other way to its addon than a file beside it.
const embeddedPty = {
  name: 'embedded-pty',
  setup(build) {
    build.onLoad({ filter: /[\\/]zigpty[\\/]dist[\\/]index\.mjs$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const contents = source.replace('= loadNative();', "= embeddedAddon('zigpty.node') ?? loadNative();")
      if (contents === source) fail('zigpty loads its addon in another way than build.mjs expects.')
      return { contents: `import { embeddedAddon } from ${JSON.stringify(at('lib/assets.ts'))}\n${contents}`, loader: 'js' }
    })
  }
}

async function assetsOfProgram(work) {
  const { relaxGlibc } = await import('./lib/server/edge/glibc.ts')
  const uws = trustedUws()
  writeFileSync(join(work, 'uws.node'), relaxGlibc(uws) ?? uws)
  const assets = {
    'package.json': at('package.json'),
    'native/uws.node': join(work, 'uws.node'),
    'native/zigpty.node': at(`node_modules/zigpty/prebuilds/zigpty.${process.platform}-${process.arch}.node`),
    'native/better_sqlite3.node': at(`node_modules/better-sqlite3/prebuilds/${process.platform}-${process.arch}.node`)
  }
  for (const file of filesUnder(at('sqlite'))) if (file.endsWith('.sql')) assets[`sqlite/${relative(at('sqlite'), file)}`] = file
  for (const file of filesUnder(at('build/web'))) assets[`web/${relative(at('build/web'), file).split(sep).join('/')}`] = file
  return assets
}

// uWebSockets.js is not on npm under its own name; docs/decisions/0002-uwebsockets.md says where these come from.
const uwsSha256 = {
  linux_x64_137: '9aa8b857ac4ab0bfb1245e948eeeacc904b13a3608c9a281d551c43c66bea66e',
  linux_arm64_137: 'ad0ffb42a119ee022ba1fc752d942e5a19b863ce47bfdc909cd1d5bc1363a7a6'
}

function trustedUws() {
  const build = `${process.platform}_${process.arch}_${process.versions.modules}`
  const bytes = readFileSync(at(`node_modules/uWebSockets.js/uws_${build}.node`))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (uwsSha256[build] !== undefined && uwsSha256[build] !== sha256)
    fail(`uws_${build}.node is not the reviewed one: its SHA-256 is ${sha256}.`)
  return bytes
}

// The single-file program is a copy of the Node.js that builds it, so that has to be the pinned one.
function mustRunOnPinnedNode(step) {
  if (isSecondTry) return false
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isSupported = (major > 22 || (major === 22 && minor >= 19)) && major < 26
  return !isSupported || (['build', 'binary'].includes(step) && existsSync(pinnedNode()) && process.execPath !== realpathSync(pinnedNode()))
}

function pinnedNode() {
  return at(`node_modules/node-${isWindows ? 'win' : process.platform}-${process.arch}/bin/node${isWindows ? '.exe' : ''}`)
}

function runOnPinnedNode() {
  if (!existsSync(pinnedNode())) fail(`Node.js 24 is needed, this is ${process.version}: run npm ci first, or install Node.js 24.`)
  return exitCodeOf(pinnedNode(), process.argv.slice(1), { ...process.env, [secondTry]: '1' })
}

async function run(...args) {
  const code = await exitCodeOf(process.execPath, args)
  if (code !== 0) process.exit(code)
}

function exitCodeOf(command, args, env = process.env) {
  const child = spawn(command, args, { stdio: 'inherit', env })
  // From a terminal Ctrl-C reaches the child by itself.
  const signals = process.stdin.isTTY ? ['SIGTERM', 'SIGHUP'] : ['SIGTERM', 'SIGHUP', 'SIGINT']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  if (process.stdin.isTTY) process.on('SIGINT', () => {})
  return new Promise(done => {
    child.on('exit', (code, signal) => done(code ?? 128 + constants.signals[signal]))
  })
}

function filesUnder(directory) {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .toSorted()
}

function replaceDirectory(directory, fresh) {
  const old = `${fresh}-old`
  if (existsSync(directory)) renameSync(directory, old)
  renameSync(fresh, directory)
  rmSync(old, { recursive: true, force: true })
}

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`
}

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}

const steps = { start, test, check, build, bench, crash, fuzz, cuts, endure, storm, mutate, format, docs, web: bundleApp, library, binary }
const [name, ...rest] = process.argv.slice(2)

if (mustRunOnPinnedNode(name)) process.exitCode = await runOnPinnedNode()
else if (Object.hasOwn(steps, name)) await steps[name](...rest)
else fail(`Which step? One of ${Object.keys(steps).join(', ')}.`)
