import { getRawAsset } from 'node:sea'
import { runPieces } from './pieces.ts'

// The first file of the single-file program. It is one by itself: Node.js takes no more than one, and would keep the text of
// the whole program in memory, and compile anew in each run what it needs of it.
const asset = (name: string) => Buffer.from(getRawAsset(name))

runPieces('binary.js', {
  read: name => ({ text: asset(`program/${name}`).toString(), compiled: asset(`program/${name}.compiled`) }),
  require,
  filename: __filename
})
