import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import { lowerGlibcVersion } from '../../../../lib/server/edge/listen/glibc.ts'

const addon = readFileSync(join(dirname(createRequire(import.meta.url).resolve('uWebSockets.js')), 'uws_linux_x64_137.node'))

/** The addon with some bytes changed, or cut off. */
function changed(change: (elf: Buffer) => void, end = addon.length): Buffer {
  const elf = Buffer.from(addon.subarray(0, end))
  change(elf)
  return elf
}

/** Where the type of a section of this type is. */
function sectionOf(type: number): number {
  const start = Number(addon.readBigUInt64LE(0x28))
  const size = addon.readUInt16LE(0x3a)
  for (let i = 0; i < addon.readUInt16LE(0x3c); i += 1) if (addon.readUInt32LE(start + i * size + 4) === type) return start + i * size + 4
  throw new Error(`No section of type ${type}`)
}

t.test('the addon is changed in a copy, and stays as long as it was', async t => {
  const before = Buffer.from(addon)
  const relaxed = lowerGlibcVersion(addon)
  t.equal(relaxed?.length, addon.length)
  t.notOk(relaxed?.equals(addon))
  t.ok(before.equals(addon))
})

t.test('a program of another machine, or damaged, is not changed', async t => {
  const table: [name: string, change: (elf: Buffer) => void, end?: number][] = [
    ['no ELF', elf => elf.writeUInt8(0x7e, 0)],
    ['32 bits', elf => elf.writeUInt8(1, 4)],
    ['big endian', elf => elf.writeUInt8(2, 5)],
    ['cut off in its header', () => {}, 63],
    ['without sections', elf => elf.writeUInt16LE(0, 0x3c)],
    ['without symbols', elf => elf.writeUInt32LE(0, sectionOf(11))],
    ['without versions of symbols', elf => elf.writeUInt32LE(0, sectionOf(0x6fffffff))],
    ['without needed versions', elf => elf.writeUInt32LE(0, sectionOf(0x6ffffffe))],
    ['without names', elf => elf.writeUInt32LE(0xffff, sectionOf(11) + 36)]
  ]
  for (const [name, change, end] of table) t.equal(lowerGlibcVersion(changed(change, end)), undefined, name)
})

t.test('only versions that are too new are changed, and to the oldest one needed', async t => {
  const needs = (elf: Buffer) => new Set([...elf.toString('latin1').matchAll(/\0GLIBC_2\.(\d+)(?=\0)/g)].map(([, minor]) => Number(minor)))
  const most = Math.max(...needs(addon))
  t.ok(most > 35)
  t.equal(lowerGlibcVersion(addon, most), undefined, 'nothing is too new')
  t.ok(lowerGlibcVersion(addon, most - 1))
  const relaxed = lowerGlibcVersion(addon) ?? addon
  t.equal(lowerGlibcVersion(relaxed), undefined)
})
