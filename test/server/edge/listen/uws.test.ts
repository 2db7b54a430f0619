import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import { lowerGlibcVersion } from '../../../../lib/server/edge/listen/glibc.ts'
import { loadUws, refusalOn } from '../../../../lib/server/edge/listen/uws.ts'

t.test('uWebSockets loads here', async t => {
  t.type(loadUws().App, 'function')
})

t.test(
  'it loads where glibc has no arc4random, and serves',
  { skip: process.platform === 'linux' ? false : 'glibc is of Linux' },
  async t => {
    const own = createRequire(import.meta.url).resolve('uWebSockets.js')
    const plain = readFileSync(join(dirname(own), `uws_linux_${process.arch}_${process.versions.modules}.node`))
    const relaxed = lowerGlibcVersion(plain) ?? plain
    // A name that no library has, as on a system that is older than the function.
    relaxed.write('arc4nowhere'.slice(0, 'arc4random'.length), relaxed.indexOf('\0arc4random\0') + 1, 'latin1')
    const file = join(t.testdir(), 'uws.node')
    writeFileSync(file, relaxed)
    const serve = `
    const uws = require(${JSON.stringify(file)})
    const app = uws.App().get('/', answer => answer.end('served'))
    app.listen('127.0.0.1', 0, socket => fetch('http://127.0.0.1:' + uws.us_socket_local_port(socket))
      .then(answer => answer.text()).then(text => { console.log(text); process.exit() }))`
    // Every name is looked up at once, as it would be at the latest when it is called.
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', serve], { env: { LD_BIND_NOW: '1' }, encoding: 'utf8' })
    t.equal(stdout, 'served\n', stderr)
  }
)

const systems: [name: string, platform: string, arch: string, glibc: number, says: RegExp][] = [
  ['Alpine', 'linux', 'x64', Number.NaN, /musl/],
  ['Ubuntu 20.04', 'linux', 'x64', 31, /glibc 2\.35 or newer, this system has 2\.31/],
  ['Windows on ARM', 'win32', 'arm64', Number.NaN, /win32 arm64/]
]
t.test('a program whose addon does not load here says so in one sentence', async t => {
  const { url } = import.meta
  const script = `
    const { embedAssets } = await import(${JSON.stringify(new URL('../../../../lib/assets.ts', url))})
    const { loadUws } = await import(${JSON.stringify(new URL('../../../../lib/server/edge/listen/uws.ts', url))})
    embedAssets({ read: name => (name === 'native/uws.node' ? Buffer.from('no addon') : undefined), names: () => [] })
    try { loadUws() } catch ({ name, exitCode, message }) { console.log(JSON.stringify({ name, exitCode, message })) }`
  const system = `${process.platform} ${process.arch}`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  t.match(
    JSON.parse(stdout || '{}'),
    {
      name: 'CannotStart',
      exitCode: 78,
      message: new RegExp(`^The Afield server (cannot load its network library on ${system} with|needs|does not)`)
    },
    stderr
  )
})

for (const [name, platform, arch, glibc, says] of systems) {
  t.test(`${name} is rejected in one sentence`, async t => t.match(refusalOn(platform, arch, glibc), says))
}
