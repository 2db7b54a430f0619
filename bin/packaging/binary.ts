import { getAssetKeys, getRawAsset } from 'node:sea'
import { embedAssets } from '../../lib/assets.ts'
import { main } from '../main.ts'

// Entry of the single-file program: all its assets are inside.
const names = getAssetKeys()
const known = new Set(names)
embedAssets({ names: () => names, read: name => (known.has(name) ? new Uint8Array(getRawAsset(name)) : undefined) })

void main(process.argv.slice(2))
