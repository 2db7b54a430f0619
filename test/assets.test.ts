import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import t from 'tap'
import {
  embedAssets,
  embeddedAddon,
  isSingleFile,
  listAssets,
  nameAsStarted,
  programName,
  programNameAt,
  readAsset,
  version
} from '../lib/assets.ts'

const root = join(import.meta.dirname, '..')
const addonFile = join(root, `node_modules/better-sqlite3/prebuilds/${process.platform}-${process.arch}.node`)

/** What a script that imports these says, in a process of its own. */
function run(names: string, script: string, { env = {}, cwd }: { env?: Record<string, string>; cwd?: string } = {}) {
  const whole = `
    const { ${names} } = await import(${JSON.stringify(join(root, 'lib/assets.ts'))})
    const say = what => console.log(JSON.stringify(what))
    ${script}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', whole], {
    env: { ...process.env, ...env },
    cwd,
    encoding: 'utf8'
  })
  if (stderr !== '') throw new Error(stderr)
  return JSON.parse(stdout || '{}')
}

/** Loads these bytes as an addon; the name, exit code and message of what was thrown. */
function load(bytes: string, env: Record<string, string>) {
  const script = `
    try { loadAddon(Buffer.from(${JSON.stringify(bytes)}), 'uws.node') }
    catch ({ name, exitCode, code, message }) { say({ name, exitCode, code, message }) }`
  return run('loadAddon', script, { env })
}

const skip = process.platform !== 'linux' && 'it asks the system of Linux'

t.test('without a directory that can be written to and run from, it fails with one sentence', { skip }, async t => {
  const refused = load('', { TMPDIR: '/proc/nowhere', HOME: '/proc/nowhere' })
  t.match(refused, { name: 'NoPlaceForAddons', message: /: \/proc\/nowhere, \/proc\/nowhere\/\.afield\. Set TMPDIR to one/ })
})

t.test('an error of the addon itself is rethrown unchanged and leaves no directory', { skip }, async t => {
  const home = t.testdir()
  t.match(load('no addon', { TMPDIR: join(home, 'deep', 'tmp'), HOME: '/proc/nowhere' }), { name: 'Error', code: 'ERR_DLOPEN_FAILED' })
  t.strictSame(readdirSync(home), [])
})

t.test('the next start removes leftovers of a killed start, but not those of a running one', { skip }, async t => {
  const place = t.testdir()
  const [old, young] = ['afield-addon-000000', 'afield-addon-111111']
  for (const name of [old, young]) mkdirSync(join(place, name))
  const hourAgo = Date.now() / 1000 - 3600
  utimesSync(join(place, old), hourAgo, hourAgo)
  load('no addon', { TMPDIR: place, HOME: place })
  t.strictSame(readdirSync(place), [young])
})

t.test('a directory that was allowed is tried after the usual ones', { skip }, async t => {
  const data = join(t.testdir(), 'data')
  const script = `
    const load = () => { try { loadAddon(Buffer.from('no addon'), 'better_sqlite3.node') } catch ({ code, message }) { return code ?? message } }
    allowAddonsIn('/proc/nowhere/else')
    allowAddonsIn('/proc/nowhere/else')
    const refused = load()
    allowAddonsIn(${JSON.stringify(data)})
    say([refused, load()])`
  const [refused, code] = run('allowAddonsIn, loadAddon', script, { env: { TMPDIR: '/proc/nowhere', HOME: '/proc/nowhere' } })
  t.match(refused, ': /proc/nowhere, /proc/nowhere/.afield, /proc/nowhere/else. Set TMPDIR')
  t.equal(code, 'ERR_DLOPEN_FAILED', 'it was reached there')
  t.notOk(existsSync(data), 'what was made for it is gone')
})

t.test('an addon of this system is loaded from its bytes, and its private file is removed again', { skip }, async t => {
  const place = t.testdir()
  const script = `
    const { readFileSync } = await import('node:fs')
    say(typeof loadAddon(readFileSync(${JSON.stringify(addonFile)}), 'better_sqlite3.node'))`
  t.equal(run('loadAddon', script, { env: { TMPDIR: place, HOME: '/proc/nowhere' } }), 'object')
  t.strictSame(readdirSync(place), [])
})

t.test('from the sources, files are read from disk by their name in the program', async t => {
  t.equal(isSingleFile(), false)
  const manifest = readFileSync(join(root, 'package.json'), 'utf8')
  t.equal(readAsset('package.json')?.toString(), manifest)
  t.equal(version(), JSON.parse(manifest).version)
  t.equal(readAsset('docs'), undefined, 'a folder is no file')
  t.equal(readAsset('none.txt'), undefined)
  const steps = readdirSync(join(root, 'sqlite')).filter(name => name.endsWith('.sql'))
  t.strictSame(
    listAssets('sqlite/').filter(name => name.endsWith('.sql')),
    steps.map(name => `sqlite/${name}`).toSorted()
  )
  t.ok(listAssets('sqlite/').includes('sqlite/rows/messages.ts'), 'folders in it count')
  t.strictSame(listAssets('none/'), [])
  t.strictSame(listAssets('package.json/'), [], 'a file is no folder')
  const app = join(root, 'build/web/index.html')
  t.strictSame(readAsset('web/index.html'), existsSync(app) ? readFileSync(app) : undefined)
  t.equal(embeddedAddon('better_sqlite3.node'), undefined)
})

t.test('a program run from its sources is found from any directory', async t => {
  t.equal(programName(), 'node build.mjs start')
  t.equal(programNameAt(root), 'node build.mjs start')
  const file = join(root, 'build.mjs')
  t.equal(programNameAt('/'), /^[\w./:\\@+-]+$/.test(file) ? `node ${file} start` : `node "${file}" start`)
})

t.test('a directory that was removed contains no sources', { skip }, async t => {
  const gone = join(t.testdir(), 'gone')
  mkdirSync(gone)
  const script = `
    const { rmdirSync } = await import('node:fs')
    rmdirSync(${JSON.stringify(gone)})
    say(programNameAt())`
  t.match(run('programNameAt', script, { cwd: gone }), join(root, 'build.mjs'))
})

t.test('a single file is called by its name if it is found by that, otherwise as it was started', async t => {
  const path = ['/usr/bin', '/opt/afield'].join(delimiter)
  t.equal(nameAsStarted('/opt/afield/afield', '/opt/afield/afield', path), 'afield')
  t.equal(nameAsStarted('/opt/afield/afield', '/opt/afield/afield.exe', path), 'afield')
  t.equal(nameAsStarted('/opt/afield/afield-0.2', '/opt/afield/afield-0.2', path), '/opt/afield/afield-0.2')
  t.equal(nameAsStarted('./afield', '/opt/other/afield', path), './afield')
  t.equal(nameAsStarted('./afield', '/opt/other/afield'), './afield')
  t.equal(nameAsStarted('afield', '/opt/other/afield', path), 'afield', 'the shell found it')
  t.equal(nameAsStarted('C:\\tools\\afield.exe', '/x/afield.exe', path), 'C:\\tools\\afield.exe')
  t.equal(nameAsStarted('/my tools/afield', '/my tools/afield', path), '"/my tools/afield"')
})

// Last: from then on nothing is read from disk.
t.test('the single-file program reads what it contains', { skip }, async t => {
  const around = Buffer.from('>text<')
  const files = new Map<string, Uint8Array>([
    ['web/b.txt', around.subarray(1, 5)],
    ['web/a.txt', new Uint8Array()],
    ['docs/c.txt', new Uint8Array()],
    ['native/better_sqlite3.node', readFileSync(addonFile)]
  ])
  embedAssets({ read: name => files.get(name), names: () => [...files.keys()] })
  t.equal(isSingleFile(), true)
  t.equal(readAsset('web/b.txt')?.toString(), 'text')
  t.ok(Buffer.isBuffer(readAsset('docs/c.txt')))
  t.equal(readAsset('package.json'), undefined)
  t.strictSame(listAssets('web/'), ['web/a.txt', 'web/b.txt'])
  t.equal(version(), 'unknown')
  files.set('package.json', Buffer.from('{"version":7}'))
  t.equal(version(), 'unknown')
  files.set('package.json', Buffer.from('{"version":"7.0.0"}'))
  t.equal(version(), '7.0.0')
  t.equal(programName(), 'afield')
  t.equal(programNameAt('/'), nameAsStarted(process.argv0, process.execPath, process.env['PATH']))
  const addon = embeddedAddon('better_sqlite3.node')
  t.type(addon, 'object')
  t.equal(embeddedAddon('better_sqlite3.node'), addon, 'loaded once')
  t.equal(embeddedAddon('zigpty.node'), undefined)
})
