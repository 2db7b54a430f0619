import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { trials } from './trials.ts'

// node test/endurance/run.ts [cuts|ending|dawdling|stalling|ringing|polling|crowd|page …] [--size N] [--seed S]   what the tests only sample, in full
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { size: { type: 'string' }, seed: { type: 'string', default: String(Date.now() % 1_000_000) } }
})
let broken = 0
for (const name of positionals.length > 0 ? positionals : Object.keys(trials)) {
  const trial = trials[name]
  if (!trial) throw new Error(`There is no trial ${name}; there are ${Object.keys(trials).join(', ')}.`)
  const data = mkdtempSync(join(tmpdir(), 'afield-endurance-'))
  const closers: (() => unknown)[] = []
  const size = Number(values.size ?? trial.sizes.whole)
  console.log(`${name}: ${trial.about}; ${size}, seed ${values.seed}`)
  const keeper = { teardown: (close: () => unknown) => void closers.push(close) }
  const { told, complaints } = await trial.run(keeper, { data, seed: Number(values.seed), size })
  for (const close of closers.toReversed()) await close()
  rmSync(data, { recursive: true, force: true })
  console.log(`  ${told}`)
  for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`)
  broken += complaints.length
}
console.log(broken === 0 ? 'Every promise was kept.' : `${broken} promises were broken.`)
process.exit(broken === 0 ? 0 : 1)
