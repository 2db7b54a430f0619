// node --predictable compile-pieces.mjs <folder of pieces>
// Stores V8's code cache next to each piece that has none: for `name.js` in `name.js.compiled`.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'

const [folder] = process.argv.slice(2)
for (const name of readdirSync(folder).filter(name => name.endsWith('.js'))) {
  const compiled = join(folder, `${name}.compiled`)
  const text = readFileSync(join(folder, name), 'utf8')
  if (!existsSync(compiled)) writeFileSync(compiled, new Script(text, { filename: name }).createCachedData())
}
