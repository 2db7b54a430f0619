// node --predictable compile-pieces.mjs <folder of pieces>
// Stores V8's code cache next to each piece: for `name.js` in `name.js.compiled`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'

const [folder] = process.argv.slice(2)
// Sorted, since what one has compiled changes the cache of the next.
for (const name of readdirSync(folder)
  .toSorted()
  .filter(name => name.endsWith('.js'))) {
  const compiled = join(folder, `${name}.compiled`)
  // A cache from a run is stored once more: it numbers functions in the order in which they happened to be compiled.
  const cachedData = existsSync(compiled) ? readFileSync(compiled) : undefined
  const script = new Script(readFileSync(join(folder, name), 'utf8'), { filename: name, cachedData })
  if (script.cachedDataRejected) throw new Error(`V8 rejects the code cache of ${name} that the rehearsal left: were its flags others?`)
  writeFileSync(compiled, script.createCachedData())
}
