// node run-pieces.mjs <folder of pieces> <argument …>
// Runs the program from its pieces, and at its end stores V8's code cache of those that ran: for `name.js` in `name.js.compiled`.
// Code that an earlier run left there is kept.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { listAssets, readAsset } from '../../lib/assets.ts'
import { runPieces } from './pieces.ts'

const [folder, ...argv] = process.argv.slice(2)
const require = createRequire(import.meta.url)
const fileOf = name => join(folder, name)
const scripts = new Map()

// V8 notes in the cache what it optimized, and leaves out what it dropped meanwhile. Without both the cache depends on the
// code that ran, not on the speed of the machine. V8 rejects a cache of other flags, so they are as usual when it is made.
const unsteady = ['sparkplug', 'maglev', 'turbofan', 'flush-bytecode']
const useUsualFlags = () => setFlagsFromString(unsteady.map(flag => `--${flag}`).join(' '))
const useSteadyFlags = () => setFlagsFromString(unsteady.map(flag => `--no-${flag}`).join(' '))

process.once('exit', () => {
  useUsualFlags()
  for (const [name, script] of scripts) writeFileSync(fileOf(`${name}.compiled`), script.createCachedData())
})

// As they are on disk.
const own = name => fileURLToPath(new URL(`../../node_modules/${name}.node`, import.meta.url))
const { platform, arch } = process
const addons = {
  'native/uws.node': fileOf('../uws.node'),
  'native/zigpty.node': own(`zigpty/prebuilds/zigpty.${platform}-${arch}`),
  'native/better_sqlite3.node': own(`better-sqlite3/prebuilds/${platform}-${arch}`)
}
const bytesOf = name => (addons[name] ? readFileSync(addons[name]) : readAsset(name))
const sea = {
  getAssetKeys: () => [...Object.keys(addons), 'package.json', ...listAssets('sqlite/'), ...listAssets('postgres/'), ...listAssets('web/')],
  getRawAsset: name => new Uint8Array(bytesOf(name)).buffer
}

process.argv = [process.execPath, process.execPath, ...argv]
runPieces('binary.js', {
  read(name) {
    useUsualFlags()
    const compiled = fileOf(`${name}.compiled`)
    return { text: readFileSync(fileOf(name), 'utf8'), compiled: existsSync(compiled) ? readFileSync(compiled) : undefined }
  },
  require: name => (name === 'node:sea' ? sea : require(name)),
  filename: join(folder, 'binary.js'),
  onScript(name, script) {
    useSteadyFlags()
    if (script.cachedDataRejected) throw new Error(`V8 rejects the code cache of ${name} that an earlier run left.`)
    scripts.set(name, script)
  }
})
