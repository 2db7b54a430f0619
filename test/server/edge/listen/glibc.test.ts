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

/** Where the header of a section of this type has the type. */
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
  t.equal(lowerGlibcVersion(Buffer.alloc(0)), undefined, 'empty')
  for (const [name, change, end] of table) t.equal(lowerGlibcVersion(changed(change, end)), undefined, name)
})

t.test('versions that are too new are no longer needed, but the oldest one in their place', async t => {
  const named = [...addon.toString('latin1').matchAll(/\0(GLIBC_2\.(\d+)[\d.]*)(?=\0)/g)].map(([, name = '', minor]) => ({
    name,
    minor: Number(minor)
  }))
  const [oldest, ...others] = named.toSorted((one, other) => one.minor - other.minor)
  const newest = others.at(-1)?.minor ?? 0
  const tooNew = others.filter(({ minor }) => minor > 35)
  t.ok(oldest && tooNew.length > 0)
  t.equal(lowerGlibcVersion(addon, newest), undefined, 'nothing is too new')
  t.ok(lowerGlibcVersion(addon, newest - 1))
  const relaxed = lowerGlibcVersion(addon) ?? addon
  for (const { name } of tooNew) t.same([timesNeeded(addon, name), timesNeeded(relaxed, name)], [1, 0], name)
  t.equal(timesNeeded(relaxed, oldest?.name ?? ''), timesNeeded(addon, oldest?.name ?? '') + tooNew.length)
  t.equal(lowerGlibcVersion(relaxed), undefined, 'nothing is left to change')
})

t.test('an addon that needs more than the known names of a version that is too new is not changed', async t => {
  t.equal(lowerGlibcVersion(addon, 10), undefined)
})

/** How often this version is needed: its hash, as the ELF format has it, is nowhere else. */
function timesNeeded(elf: Buffer, name: string): number {
  let hash = 0
  for (const byte of Buffer.from(name)) {
    const sum = (hash << 4) + byte
    const high = sum & 0xf0000000
    hash = (sum ^ (high >>> 24)) & ~high
  }
  const needle = Buffer.alloc(4)
  needle.writeUInt32LE(hash >>> 0)
  let times = 0
  for (let at = elf.indexOf(needle); at >= 0; at = elf.indexOf(needle, at + 1)) times += 1
  return times
}
