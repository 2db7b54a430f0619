// node run-pieces.mjs <folder of pieces> <argument …>
// Runs the program from its pieces, and at its end stores V8's code cache of those that ran: for `name.js` in `name.js.compiled`.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runPieces } from './pieces.ts'

const [folder, ...argv] = process.argv.slice(2)
const require = createRequire(import.meta.url)
const textOf = name => readFileSync(join(folder, name), 'utf8')
const scripts = new Map()

process.once('exit', () => {
  for (const [name, script] of scripts) writeFileSync(join(folder, `${name}.compiled`), script.createCachedData())
})

// As they are on disk; no other is read on the way.
const assets = {
  'package.json': fileURLToPath(new URL('../../package.json', import.meta.url)),
  'native/zigpty.node': fileURLToPath(
    new URL(`../../node_modules/zigpty/prebuilds/zigpty.${process.platform}-${process.arch}.node`, import.meta.url)
  )
}
const sea = { getAssetKeys: () => Object.keys(assets), getRawAsset: name => new Uint8Array(readFileSync(assets[name])).buffer }

process.argv = [process.execPath, process.execPath, ...argv]
runPieces('binary.js', {
  read: name => ({ text: textOf(name) }),
  require: name => (name === 'node:sea' ? sea : require(name)),
  filename: join(folder, 'binary.js'),
  onScript: (name, script) => scripts.set(name, script)
})
