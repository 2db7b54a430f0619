import { getRawAsset } from 'node:sea'
import { runPieces } from './pieces.ts'

// The first file of the single-file program. It is separate because Node.js accepts only one, and would keep the text of
// the whole program in memory, and compile the needed parts again in each run.
const asset = (name: string) => Buffer.from(getRawAsset(name))

runPieces('binary.js', {
  read: name => ({ text: asset(`program/${name}`).toString(), compiled: asset(`program/${name}.compiled`) }),
  require,
  filename: __filename
})
