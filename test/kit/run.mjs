import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Files run two at a time, and on a small machine one can take the time that its neighbour needs. What failed so is run once more by
 * itself and named; what fails alone as well has failed.
 */
export async function runTests(tap, files, exitCodeOf) {
  const tally = join(mkdtempSync(join(tmpdir(), 'afield-tests-')), 'tally.json')
  const env = { ...process.env, AFIELD_TALLY: tally }
  const code = await exitCodeOf(process.execPath, [tap, ...files], env)
  if (code === 0) return
  const first = existsSync(tally) ? JSON.parse(readFileSync(tally, 'utf8')) : { failedFiles: [] }
  const mayBeTheLoad = files.length > 1 && first.failedFiles.length > 0 && first.failedFiles.length <= mostTriedAgain
  if (!mayBeTheLoad) process.exit(code)
  process.stdout.write(`\nFailed beside others, tried again alone: ${first.failedFiles.join(', ')}\n`)
  const codeAlone = await exitCodeOf(process.execPath, [tap, '--jobs=1', ...first.failedFiles], env)
  const alone = JSON.parse(readFileSync(tally, 'utf8'))
  if (codeAlone === 0) {
    process.stdout.write(`Passed alone: ${first.failedFiles.join(', ')}\n`)
    process.stdout.write(`${first.passed + alone.passed} passed, 0 failed, ${first.skipped + alone.skipped} skipped\n`)
  } else process.exit(codeAlone)
}

const mostTriedAgain = 8

/** Journeys take half a minute each, so a run has the one that everything rests on and a few more. */
export function filesOfARun() {
  const all = filesIn('test')
  const isJourney = file => file.startsWith(join('test', 'journeys'))
  const seed = process.env.AFIELD_SEED ?? String(Date.now())
  const order = file => createHash('sha256').update(`${seed} ${file}`).digest('hex')
  const [first, ...others] = all.filter(isJourney).sort((a, b) => isFirst(b) - isFirst(a) || order(a).localeCompare(order(b)))
  const sample = [first, ...others.slice(0, 3)]
  process.stdout.write(`Journeys of this run, AFIELD_SEED=${seed}: ${sample.map(file => file.split(sep).at(-1)).join(', ')}\n`)
  return [...all.filter(file => !isJourney(file)), ...sample]
}

const isFirst = file => Number(file.endsWith('first-slice.test.ts'))

export function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter(file => file.endsWith('.test.ts'))
    .map(file => join(folder, file))
    .sort()
}
