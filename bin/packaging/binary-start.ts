import { unpackedAsset } from './packed-assets.ts'
import { runPieces } from './pieces.ts'

// The first file of the single-file program. It is separate because Node.js accepts only one, and would keep the text of
// the whole program in memory, and compile the needed parts again in each run.
runPieces('binary.js', {
  read: name => ({ text: String(unpackedAsset(`program/${name}`)), compiled: unpackedAsset(`program/${name}.compiled`) }),
  require,
  filename: __filename
})
