// node build.mjs <step> …
//   start [command …]   the program from source; without a command, `serve`
//   test [files]        the tests, with a sample of the journeys (AFIELD_SEED picks it)
//   test --long         the same, then what takes long: real agents, the CLI of Happy, the single file, power cuts; test/kit/run.mjs names them
//   published           fetches real agents and the clients of Happy for the tests that run them (1.5 GB); see test/kit/published.ts
//   journeys            every journey through the app, in a real browser
//   check               types, lint, tests; import arrows and generated pages are among the tests
//   check --changed [--base REV]  types, lint, and the tests that can reach what changed since main, or REV
//   build               the library in dist/ and the single-file program build/afield
//   release [--sign-key release.key] [--previous latest.json] [--darwin folder]  everything that is published, in release/; see docs/releasing.md
//   bench [name]        compares Afield with a bare baseline; one file per benchmark in bench/, which may have options of its own
//   crash [--rounds N]  kills the server, or cuts the power of its disk, under load, far more often than the tests do; see test/crash/run.ts
//   fuzz [--seconds N]  sends the server random and malformed input, far longer than the tests do; see test/fuzz/run.ts
//   cuts [--seconds 15,30,60]  cuts the connection of a working agent, far longer than the tests do; see test/link-down/run.ts
//   kills [--agent codex] [--rounds 20]  kills the wrapper of an agent, the agent and the server, and compares histories; see test/kills/run.ts
//   instances [--operations N]  kills, stops and drains several instances, Redis and PostgreSQL, and judges what clients were told; see test/instances/run.ts
//   endure [trial …]    disconnected readers, shutdowns under load, slow clients, stalled readers and floods by the thousand; see test/endurance/run.ts
//   storm [--clients N] kills and restarts a server that thousands of clients are connected to; see test/storm/run.ts
//   torture [proof …] [--minutes N]  the proofs of docs/evidence.md in turn, with their controls; see test/torture/run.ts
//   install [--suites bookworm,trixie]  runs the single file and the Debian package in systems of their own; see test/install/run.ts
//   upgrade [--keep]    upgrades really built and signed programs under load, and lets it fail in every way; see test/upgrade/run.ts
//   mutate              removes each ownership check of the store in turn, and sees whether the tests notice
//   mutate --sample 60 [--seed N] [--part server|wrapper|app] [--out file]  makes small random changes to the sources instead; goes on where the file ends
//   screens [--out folder] [name …]  renders every screen in every state; see test/web/screens.ts
//   format              formats and sorts imports
//   docs                writes the generated pages of docs/, and draws its curves
//   web                 bundles the app into build/web
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, realpathSync, watch, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { binary, library } from './bin/packaging/packaging.mjs'
import { bundleProgram, bundleTap } from './test/kit/bundles.mjs'
import { filesIn, filesOfAChange, filesOfARun, longFiles, runTests } from './test/kit/run.mjs'
import { appSources, bundleApp, isAppStale } from './web/bundle.mjs'

const root = fileURLToPath(new URL('.', import.meta.url))
const at = (...parts) => join(root, ...parts)
const isWindows = process.platform === 'win32'

// Set for the one process that continues on the pinned Node.js, and not for anything that it starts.
const secondTry = 'AFIELD_ON_PINNED_NODE'
const isSecondTry = process.env[secondTry] !== undefined
delete process.env[secondTry]

/** Runs in this process, so that a signal passes through one process less. */
async function start(...args) {
  if (isAppStale()) await bundleApp()
  if (args.includes('--dev')) keepAppFresh()
  // npm start runs the server and nothing else, so its help is that of the server; without npm it lists the commands.
  const ofAll = process.env.npm_lifecycle_event === 'start' ? ['--version'] : ['--help', '-h', '--version']
  const hasCommand = args[0] !== undefined && (!args[0].startsWith('-') || ofAll.includes(args[0]))
  process.argv = [process.execPath, at('bin/afield.ts'), ...(hasCommand ? args : ['serve', ...args])]
  await import('./bin/afield.ts')
}

/** Bundles the app whenever its sources change; errors in them are printed, and the server keeps serving the previous bundle. */
function keepAppFresh() {
  let child
  const bundle = () => {
    if (child || !isAppStale()) return
    child = spawn(process.execPath, [at('build.mjs'), 'web'], { stdio: 'inherit' }).on('exit', code => {
      child = undefined
      if (code === 0) bundle()
    })
  }
  let timer
  const soon = () => {
    clearTimeout(timer)
    timer = setTimeout(bundle, 100)
  }
  for (const source of appSources) watch(at(source), { recursive: true }, soon).unref()
}

async function test(...files) {
  if (isAppStale()) await bundleApp()
  // Hundreds of processes load the same sources; each would strip their types again.
  process.env.NODE_COMPILE_CACHE ??= at('node_modules/.cache/compiled')
  const isAlsoLong = files.includes('--long')
  const named = files.filter(file => file !== '--long')
  // One file loads faster than it is bundled.
  process.env.AFIELD_TEST_BUNDLE = named.length === 1 ? '' : await bundleProgram()
  process.env.AFIELD_TEST_TAP = named.length === 1 ? '' : await bundleTap()
  const code = await runTests(named.length > 0 ? named : filesOfARun(), isAlsoLong ? longFiles() : [])
  if (code !== 0) process.exit(code)
}

async function published() {
  await run(at('test/kit/published.ts'))
}

async function journeys() {
  await test(...filesIn('test/journeys'))
}

async function check(...args) {
  const { values } = parseArgs({ args, options: { changed: { type: 'boolean' }, base: { type: 'string' } } })
  if (values.base !== undefined && !values.changed) fail('--base goes with --changed.')
  await types()
  await run(at('node_modules/@biomejs/biome/bin/biome'), 'check', '--error-on-warnings', '.')
  await test(...(values.changed ? await filesOfAChange(values.base) : []))
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

async function release(...args) {
  const { release: make } = await import('./bin/packaging/release/release.mjs')
  try {
    await make(...args)
  } catch (error) {
    fail(error.message)
  }
}

async function bench(name, ...args) {
  const files = readdirSync(at('bench')).filter(file => (name ? file === `${name}.ts` : file.endsWith('.ts')))
  if (files.length === 0) fail(`There is no bench/${name}.ts.`)
  if (isAppStale()) await bundleApp()
  for (const file of files) await run(at('bench', file), ...args)
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

async function kills(...args) {
  await run(at('test/kills/run.ts'), ...args)
}

async function instances(...args) {
  // Its servers start hundreds of times.
  process.env.NODE_COMPILE_CACHE ??= at('node_modules/.cache/compiled')
  await run(at('test/instances/run.ts'), ...args)
}

async function storm(...args) {
  await run(at('test/storm/run.ts'), ...args)
}

async function endure(...args) {
  await run(at('test/endurance/run.ts'), ...args)
}

async function torture(...args) {
  await run(at('test/torture/run.ts'), ...args)
}

async function install(...args) {
  await run(at('test/install/run.ts'), ...args)
}

async function upgrade(...args) {
  await run(at('test/upgrade/run.ts'), ...args)
}

async function mutate(...args) {
  if (args.includes('--sample') && isAppStale()) await bundleApp()
  await run(at('test/mutation/run.ts'), ...args)
}

async function screens(...args) {
  await run(at('test/web/screens.ts'), ...args)
}

async function format() {
  await run(at('node_modules/@biomejs/biome/bin/biome'), 'check', '--write', '.')
}

async function docs() {
  const [{ pages }, { apiPage }] = await Promise.all([import('./docs/pages.ts'), import('./docs/api.ts')])
  for (const [path, text] of Object.entries({ ...pages(), 'docs/api.md': apiPage() })) writeFileSync(at(path), text)
}

// The single-file program is a copy of the Node.js that builds it, so it must be built with the pinned one.
function mustRunOnPinnedNode(step) {
  if (isSecondTry) return false
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isSupported = (major > 22 || (major === 22 && minor >= 19)) && major < 26
  return (
    !isSupported ||
    (['build', 'binary', 'release', 'upgrade'].includes(step) &&
      existsSync(pinnedNode()) &&
      process.execPath !== realpathSync(pinnedNode()))
  )
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
  // On a terminal Ctrl-C reaches the child directly.
  const signals = process.stdin.isTTY ? ['SIGTERM', 'SIGHUP'] : ['SIGTERM', 'SIGHUP', 'SIGINT']
  for (const signal of signals) process.on(signal, () => child.kill(signal))
  if (process.stdin.isTTY) process.on('SIGINT', () => {})
  return new Promise(done => {
    child.on('exit', (code, signal) => done(code ?? 128 + constants.signals[signal]))
  })
}

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}

const steps = {
  start,
  test,
  published,
  journeys,
  check,
  build,
  release,
  bench,
  crash,
  fuzz,
  cuts,
  kills,
  instances,
  endure,
  storm,
  torture,
  install,
  upgrade,
  mutate,
  screens,
  format,
  docs,
  web: bundleApp,
  library,
  binary
}
const [name, ...rest] = process.argv.slice(2)

if (mustRunOnPinnedNode(name)) process.exitCode = await runOnPinnedNode()
else if (Object.hasOwn(steps, name)) await steps[name](...rest)
else fail(`Which step? One of ${Object.keys(steps).join(', ')}.`)
