import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { recordRun } from '../torture/record.ts'

// node test/endurance/run.ts [cuts|ending|dawdling|stalling|ringing|polling|crowd|page …] [--size N] [--seed S]   what the tests only sample, in full
// With --control what `cuts` or `stalling` tries is broken on purpose, and must end with a complaint.
// Ctrl-C ends it after the trial under way.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    control: { type: 'boolean', default: false }
  }
})
const control = values.control ? controlOf(positionals) : undefined
if (control !== undefined) {
  const file = pathToFileURL(join(import.meta.dirname, `${control}.mjs`)).href
  // Servers are processes of their own, and some clients run in this one: they are loaded after what changes them.
  process.env['NODE_OPTIONS'] = `--import ${file}`
  await import(file)
}
const { trials } = await import('./trials.ts')

let isInterrupted = false
process.once('SIGINT', () => (isInterrupted = true))
let broken = 0
for (const name of positionals.length > 0 ? positionals : Object.keys(trials)) {
  if (isInterrupted) break
  const trial = trials[name]
  if (!trial) throw new Error(`There is no trial ${name}; there are ${Object.keys(trials).join(', ')}.`)
  const data = mkdtempSync(join(tmpdir(), 'afield-endurance-'))
  const closers: (() => unknown)[] = []
  const size = Number(values.size ?? trial.sizes.whole)
  console.log(`${name}: ${trial.about}; ${size}, seed ${values.seed}`)
  const keeper = { teardown: (close: () => unknown) => void closers.push(close) }
  const about = { seed: Number(values.seed), control }
  const recorded = name === 'cuts' ? recordRun({ proof: 'readers', ...about }) : recordRun({ proof: 'clients', ...about })
  const { told, complaints, figures = { rounds: 1, checks: size } } = await trial.run(keeper, { data, seed: Number(values.seed), size })
  for (const close of closers.toReversed()) await close()
  rmSync(data, { recursive: true, force: true })
  recorded.tell({ ...figures, violations: complaints.length })
  console.log(`  ${told}`)
  for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`)
  broken += complaints.length
}
console.log(broken === 0 ? 'Every promise was kept.' : `${broken} promises were broken.`)
process.exit(broken === 0 ? 0 : 1)

function controlOf(names: readonly string[]): string {
  if (names.length === 1 && names[0] === 'cuts') return 'read-twice'
  if (names.length === 1 && names[0] === 'stalling') return 'no-bound'
  throw new Error('--control goes with one of cuts and stalling.')
}
