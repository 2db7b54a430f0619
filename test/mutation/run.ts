import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { isKilled } from './kill.ts'
import { allParts } from './sample.ts'
import { mutantsOf, statementsOfStore } from './statements.ts'
import { survey } from './survey.ts'

// npm run mutate   removes each predicate that says whose rows a statement is about, and sees whether the tests notice
// npm run mutate -- --sample 60 [--seed N] [--part server|wrapper|app] [--out file] [--files 12] [--seconds 240]
//     [--reached file]
//   makes so many small changes to the sources, one at a time, and runs the likeliest tests, until so many that reach
//   the changed place have passed, or for so long; with a file, knows which do: the first time it runs each test once
const { values } = parseArgs({
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    part: { type: 'string' },
    out: { type: 'string' },
    reached: { type: 'string' },
    files: { type: 'string', default: '12' },
    seconds: { type: 'string', default: '240' }
  }
})
if (values.sample === undefined) await removePredicates()
else await changeSources(Number(values.sample))

async function removePredicates(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'afield-mutate-'))
  const mutants = (await statementsOfStore(data)).flatMap(mutantsOf)
  rmSync(data, { recursive: true })

  if (await isKilled({ sql: '', mutated: '' })) throw new Error('The tests fail without a mutant.')
  let killed = 0
  for (const mutant of mutants) {
    if (await isKilled(mutant)) killed += 1
    else console.log(`survived: ${mutant.mutated.replaceAll(/\s+/g, ' ')}`)
  }
  console.log(`${mutants.length} mutants, ${killed} killed`)
  process.exitCode = killed === mutants.length ? 0 : 1
}

/** What survives is a finding, not a failure. */
async function changeSources(count: number): Promise<void> {
  const parts = allParts.filter(part => values.part === undefined || part === values.part)
  if (parts.length === 0 || !(count > 0)) throw new Error(`--sample needs a number, and --part one of ${allParts.join(', ')}.`)
  console.log(`${count} changes with seed ${values.seed}`)
  await survey({
    root: join(import.meta.dirname, '../..'),
    seed: Number(values.seed),
    count,
    parts,
    out: values.out,
    reached: values.reached,
    limits: { files: Number(values.files), seconds: Number(values.seconds), secondsOfFile: 150 },
    show: line => console.log(line)
  })
}
