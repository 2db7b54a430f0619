import { embedAssets } from '../../lib/assets.ts'
import { main } from '../main.ts'
import { assetNames, unpackedAsset } from './packed-assets.ts'

// Entry of the single-file program: all its assets are inside.
embedAssets({ names: () => assetNames, read: unpackedAsset })

void main(process.argv.slice(2))
