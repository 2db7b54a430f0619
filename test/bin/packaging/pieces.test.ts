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
