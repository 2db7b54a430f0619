import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

/** Loads these bytes as an addon, in a process with those directories; prints the name, exit code and message of what was thrown. */
function load(bytes: string, env: Record<string, string>) {
  const script = `
    const { loadAddon } = await import(${JSON.stringify(join(import.meta.dirname, '../lib/assets.ts'))})
    try { loadAddon(Buffer.from(${JSON.stringify(bytes)}), 'uws.node') }
    catch ({ name, exitCode, code, message }) { console.log(JSON.stringify({ name, exitCode, code, message })) }`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
    timeout: 10_000
  })
  t.equal(stderr, '')
  return JSON.parse(stdout || '{}')
}

const skip = process.platform !== 'linux' && 'it asks the system of Linux'

t.test('without a directory that can be written to and run from, it fails with one sentence', { skip }, async t => {
  const refused = load('', { TMPDIR: '/proc/nowhere', HOME: '/proc/nowhere' })
  t.match(refused, { name: 'NoPlaceForAddons', message: /: \/proc\/nowhere, \/proc\/nowhere\/\.afield\. Set TMPDIR to one/ })
})

t.test('an error of the addon itself is rethrown unchanged and leaves no directory', { skip }, async t => {
  const home = t.testdir()
  t.match(load('no addon', { TMPDIR: join(home, 'deep', 'tmp'), HOME: home }), { name: 'Error', code: 'ERR_DLOPEN_FAILED' })
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
