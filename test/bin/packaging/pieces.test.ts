import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Script } from 'node:vm'
import t from 'tap'
import { type Piece, pieceOf, runPieces } from '../../../bin/packaging/pieces.ts'

const files: Record<string, string> = {
  'main.js': `exports.log = require('log'); exports.later = () => require('./late.js').say()`,
  'late.js': `const { log } = require('./main.js'); log.push('loaded'); exports.say = () => log.push('said in ' + __filename)`
}

function run(compiled: Record<string, Uint8Array> = {}) {
  const log: string[] = []
  const scripts = new Map<string, Script>()
  const read = (name: string): Piece => ({ text: pieceOf(files[name] ?? ''), compiled: compiled[name] })
  const require = (name: string) => (name === 'log' ? log : undefined)
  const main = runPieces('main.js', { read, require, filename: '/afield', onScript: (name, script) => scripts.set(name, script) })
  return { log, scripts, main: main as { later(): void } }
}

t.test('a module is loaded once, when first required, and may require the modules that load it', async t => {
  const { log, scripts, main } = run()
  t.strictSame([...scripts.keys()], ['main.js'])
  main.later()
  main.later()
  t.strictSame(log, ['loaded', 'said in /afield', 'said in /afield'])
})

t.test('the next run reuses the compiled code of the last one', async t => {
  const first = run()
  first.main.later()
  const compiled = Object.fromEntries([...first.scripts].map(([name, script]) => [name, script.createCachedData()]))
  const { log, scripts, main } = run(compiled)
  main.later()
  t.strictSame(log, ['loaded', 'said in /afield'])
  t.strictSame(
    [...scripts.values()].map(script => script.cachedDataRejected),
    [false, false]
  )
})

t.test('compiled code is the same each time, and V8 accepts it', async t => {
  const compile = () => {
    const folder = t.testdir()
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), pieceOf(text))
    const program = join(import.meta.dirname, '../../../bin/packaging/compile-pieces.mjs')
    const run = () => execFileSync(process.execPath, ['--predictable', program, folder])
    run()
    // What a rehearsal leaves is compiled once more.
    run()
    return Object.fromEntries(Object.keys(files).map(name => [name, readFileSync(join(folder, `${name}.compiled`))]))
  }
  const compiled = compile()
  t.strictSame(compile(), compiled)
  const { scripts } = run(compiled)
  t.strictSame(
    [...scripts.values()].map(script => script.cachedDataRejected),
    [false]
  )
})
