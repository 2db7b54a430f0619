import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import { relaxGlibc } from '../../../../lib/server/edge/listen/glibc.ts'
import { loadUws, refusalOn } from '../../../../lib/server/edge/listen/uws.ts'

const addon = join(dirname(createRequire(import.meta.url).resolve('uWebSockets.js')), 'uws_linux_x64_137.node')

t.test('uWebSockets loads here', async t => {
  t.type(loadUws().App, 'function')
})

t.test('an addon that asks for glibc 2.38 asks for no more than 2.36 afterwards', async t => {
  const relaxed = relaxGlibc(readFileSync(addon))
  t.ok(relaxed)
  t.equal(relaxed && relaxGlibc(relaxed), undefined, 'nothing is left to change')
})

t.test('an addon that needs more than the aliases is left alone', async t => {
  t.equal(relaxGlibc(readFileSync(addon), 10), undefined)
})

t.test('what is no ELF file is left alone', async t => {
  t.equal(relaxGlibc(Buffer.alloc(0)), undefined)
  t.equal(relaxGlibc(Buffer.from('MZ'.repeat(100))), undefined)
})

const systems: [name: string, platform: string, arch: string, glibc: number, says: RegExp][] = [
  ['Alpine', 'linux', 'x64', Number.NaN, /musl/],
  ['Ubuntu 22.04', 'linux', 'x64', 35, /glibc 2\.36 or newer, this system has 2\.35/],
  ['Windows on ARM', 'win32', 'arm64', Number.NaN, /win32 arm64/]
]
for (const [name, platform, arch, glibc, says] of systems) {
  t.test(`${name} is refused in one sentence`, async t => t.match(refusalOn(platform, arch, glibc), says))
}
