import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Mutant } from './statements.ts'

const root = join(import.meta.dirname, '../..')
const preload = join(import.meta.dirname, 'mutate-statement.mjs')
/** What must see that a predicate is gone: the matrix over the wire, then the contract of the store. */
const judges = ['test/server/isolation.test.ts', 'test/mutation/store-contract.ts', 'test/sqlite/engine/leftovers.test.ts']

/** Whether a judge fails when the store has lost the predicate. */
export async function isKilled(mutant: Mutant): Promise<boolean> {
  for (const judge of judges) if (!(await passes(judge, mutant))) return true
  return false
}

/** Runs a test file with the mutant in place; true when nothing in it fails. */
export async function passes(judge: string, mutant: Mutant): Promise<boolean> {
  const env = { ...process.env, AFIELD_MUTANT: JSON.stringify(mutant), NODE_OPTIONS: '', TAP_BAIL: '1', TAP_GREP: '/\\[I\\d/' }
  const child = spawn(process.execPath, ['--import', preload, judge], { cwd: root, env, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  return code === 0
}
