// node run-pieces.mjs <folder of pieces> <argument …>
// Runs the program from its pieces, and at its end stores V8's code cache of those that ran: for `name.js` in `name.js.compiled`.
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runPieces } from './pieces.ts'

const [folder, ...argv] = process.argv.slice(2)
const require = createRequire(import.meta.url)
const textOf = name => readFileSync(join(folder, name), 'utf8')
const scripts = new Map()

// V8 notes in the cache what it optimized, and leaves out what it dropped meanwhile. Without both the cache depends on the
// code that ran, not on the speed of the machine. V8 rejects a cache of other flags, so they are as usual when it is made.
const unsteady = ['sparkplug', 'maglev', 'turbofan', 'flush-bytecode']
for (const flag of unsteady) setFlagsFromString(`--no-${flag}`)

process.once('exit', () => {
  for (const flag of unsteady) setFlagsFromString(`--${flag}`)
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
