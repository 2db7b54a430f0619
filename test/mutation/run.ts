import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isKilled } from './kill.ts'
import { mutantsOf, statementsOfStore } from './statements.ts'

// npm run mutate   removes each predicate that says whose rows a statement is about, and sees whether the tests notice
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
