/**
 * uWebSockets.js is built on glibc 2.38 and requires that version because of three C23 aliases of old
 * functions: `__isoc23_sscanf`, `__isoc23_strtol`, `__isoc23_strtoul`. This points them at the functions
 * they are aliases of. From 2.36 it requires only `arc4random`, in the C++ library's `random_device`;
 * nothing in the addon calls that. It may be missing from then on, and a call of it would end the process.
 * So the addon loads on glibc 2.35 and newer (Ubuntu 22.04, Debian 12, Raspberry Pi OS). Returns undefined
 * if nothing needs to change, or if the addon needs anything else that is newer: then the system's own
 * error applies.
 */
export function lowerGlibcVersion(addon: Uint8Array, newestMinor = 35): Buffer | undefined {
  const elf = Buffer.from(addon)
  const tables = dynamicTables(elf)
  if (!tables) return undefined

  const versions = libcVersions(elf, tables)
  const tooNew = versions.filter(version => version.minor > newestMinor)
  const oldest = versions.toSorted((a, b) => a.minor - b.minor)[0]
  if (tooNew.length === 0 || !oldest) return undefined

  if (!relaxSymbols(elf, tables, new Set(tooNew.map(version => version.index)), oldest.index)) return undefined
  for (const version of tooNew) {
    elf.writeUInt32LE(oldest.hash, version.at)
    elf.writeUInt32LE(oldest.name, version.at + 8)
  }
  return elf
}

const aliasPrefix = '__isoc23_'
const uncalled = 'arc4random'
const weakFunction = 0x22
/** For a symbol that any version of a library may provide. */
const unversioned = 1
const sectionTypes = { symbols: 11, symbolVersions: 0x6fffffff, neededVersions: 0x6ffffffe }

interface Section {
  type: number
  offset: number
  size: number
  link: number
  info: number
}

interface Tables {
  symbols: Section
  strings: Section
  symbolVersions: Section
  neededVersions: Section
}

interface LibcVersion {
  at: number
  hash: number
  index: number
  name: number
  minor: number
}

function dynamicTables(elf: Buffer): Tables | undefined {
  const isElf64LittleEndian = elf.length >= 64 && elf.readUInt32BE(0) === 0x7f454c46 && elf[4] === 2 && elf[5] === 1
  if (!isElf64LittleEndian) return undefined

  const start = Number(elf.readBigUInt64LE(0x28))
  const entrySize = elf.readUInt16LE(0x3a)
  const sections = Array.from({ length: elf.readUInt16LE(0x3c) }, (_, i) => sectionAt(elf, start + i * entrySize))

  const symbols = sections.find(section => section.type === sectionTypes.symbols)
  const strings = symbols && sections[symbols.link]
  const symbolVersions = sections.find(section => section.type === sectionTypes.symbolVersions)
  const neededVersions = sections.find(section => section.type === sectionTypes.neededVersions)
  return symbols && strings && symbolVersions && neededVersions && { symbols, strings, symbolVersions, neededVersions }
}

function sectionAt(elf: Buffer, at: number): Section {
  return {
    type: elf.readUInt32LE(at + 4),
    offset: Number(elf.readBigUInt64LE(at + 24)),
    size: Number(elf.readBigUInt64LE(at + 32)),
    link: elf.readUInt32LE(at + 40),
    info: elf.readUInt32LE(at + 44)
  }
}

/** Every version of libc.so.6 that the addon requires. */
function libcVersions(elf: Buffer, tables: Tables): LibcVersion[] {
  const found: LibcVersion[] = []
  let library = tables.neededVersions.offset
  for (let i = 0; i < tables.neededVersions.info; i++) {
    if (text(elf, tables, elf.readUInt32LE(library + 4)) === 'libc.so.6') found.push(...versionsOf(elf, tables, library))
    library += elf.readUInt32LE(library + 12)
  }
  return found
}

function versionsOf(elf: Buffer, tables: Tables, library: number): LibcVersion[] {
  const found: LibcVersion[] = []
  let at = library + elf.readUInt32LE(library + 8)
  for (let left = elf.readUInt16LE(library + 2); left > 0; left--) {
    const name = elf.readUInt32LE(at + 8)
    const minor = /^GLIBC_2\.(\d+)/.exec(text(elf, tables, name))?.[1]
    if (minor) found.push({ at, name, hash: elf.readUInt32LE(at), index: elf.readUInt16LE(at + 6), minor: Number(minor) })
    at += elf.readUInt32LE(at + 12)
  }
  return found
}

/** False if another symbol is in the way. */
function relaxSymbols(elf: Buffer, tables: Tables, tooNew: Set<number>, oldest: number): boolean {
  const symbolSize = 24
  for (let i = 0; i < tables.symbols.size / symbolSize; i++) {
    const versionAt = tables.symbolVersions.offset + i * 2
    if (!tooNew.has(elf.readUInt16LE(versionAt) & 0x7fff)) continue

    const symbolAt = tables.symbols.offset + i * symbolSize
    const nameAt = elf.readUInt32LE(symbolAt)
    const name = text(elf, tables, nameAt)
    if (name.startsWith(aliasPrefix)) {
      // To its own suffix, `strtol` in `__isoc23_strtol`.
      elf.writeUInt32LE(nameAt + aliasPrefix.length, symbolAt)
      elf.writeUInt16LE(oldest, versionAt)
    } else if (name === uncalled) {
      elf.writeUInt8(weakFunction, symbolAt + 4)
      elf.writeUInt16LE(unversioned, versionAt)
    } else return false
  }
  return true
}

function text(elf: Buffer, { strings }: Tables, offset: number): string {
  const start = strings.offset + offset
  return elf.toString('latin1', start, elf.indexOf(0, start))
}
