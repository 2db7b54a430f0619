import { getAssetKeys, getRawAsset } from 'node:sea'

/** What the build adds to the name of an asset that it compressed. */
const packed = '.zst'
const keys = new Set(getAssetKeys())

/** The names of the assets in this program, without regard to how they are stored. */
export const assetNames = [...keys].map(key => (key.endsWith(packed) ? key.slice(0, -packed.length) : key))

/** The content of an asset, which may not be written to; undefined if there is none. */
export function unpackedAsset(name: string): Buffer | undefined {
  if (keys.has(name + packed)) return unpacked(Buffer.from(getRawAsset(name + packed)))
  return keys.has(name) ? Buffer.from(getRawAsset(name)) : undefined
}

// Loaded only then: most starts read nothing that was compressed.
function unpacked(bytes: Buffer): Buffer {
  return process.getBuiltinModule('node:zlib').zstdDecompressSync(bytes)
}
