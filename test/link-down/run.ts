import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../crash/random.ts'
import { recordRun } from '../torture/record.ts'
import { isKept } from './judge.ts'
import { runRounds, shuffledCuts } from './rounds.ts'

// node build.mjs cuts [--seconds 15,30,60] [--seed 7]   takes the link from an agent that goes on, for each time in each way
// With --control the wrapper takes a message for delivered when its request failed, and the run must end with losses.
// Ctrl-C ends it after the cut under way, and what came until then is judged.
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15,30,60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    control: { type: 'boolean', default: false }
  }
})

// For the wrapper and the server, not for the phone in this process.
if (values.control) process.env['NODE_OPTIONS'] = `--import ${join(import.meta.dirname, 'one-try.mjs')}`
const recorded = recordRun({ proof: 'cuts', seed: Number(values.seed), control: values.control ? 'one-try' : undefined })
let isInterrupted = false
process.once('SIGINT', () => (isInterrupted = true))
let rounds = 0
const closings: (() => unknown)[] = []
const data = mkdtempSync(join(tmpdir(), 'afield-cuts-'))
const cuts = shuffledCuts(values.seconds.split(',').map(Number), seededRandom(Number(values.seed)))
console.log(`${cuts.length} cuts with seed ${values.seed}, while an agent says ten messages a second`)
const verdict = await runRounds(
  { teardown: (close: () => unknown) => void closings.unshift(close) },
  {
    data,
    cuts,
    upMs: 2000,
    waitsForBack: true,
    goesOn: () => !isInterrupted,
    onBack({ way, seconds }, afterMs, heard) {
      rounds += 1
      console.log(`${seconds} s ${way}: back after ${(afterMs / 1000).toFixed(1)} s; ${heard} messages have come so far`)
    }
  }
)
for (const close of closings) await close()
rmSync(data, { recursive: true })
const { said, asked, lost, doubled, misplaced, unanswered } = verdict
recorded.tell({ rounds, checks: said + asked, violations: lost + doubled + misplaced + unanswered })
console.log(
  `Of ${said} messages ${lost} were lost, ${doubled} doubled, ${misplaced} out of order; ${unanswered} of the phone not answered.`
)
console.log(isKept(verdict) ? 'Every promise was kept.' : 'Promises were broken.')
process.exit(isKept(verdict) ? 0 : 1)
