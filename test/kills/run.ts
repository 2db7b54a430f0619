import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../crash/random.ts'
import { recordRun } from '../torture/record.ts'
import { computers } from './computers.ts'
import { isKept } from './judge.ts'
import { runRounds } from './rounds.ts'

// node build.mjs kills [--agent claude|claude-remote|codex|opencode|acp] [--rounds 20] [--seed 7] [--real]   kills wrapper, agent and server in
// the middle of what is said; --real with the agent that CLAUDE_BIN, CODEX_BIN or OPENCODE_BIN names, on a model on loopback
// With --control what a restarted wrapper tells again has another name, and the run must end with doubled lines.
// Ctrl-C ends it after the round under way, and what was said until then is judged.
const { values } = parseArgs({
  options: {
    agent: { type: 'string', default: 'claude' },
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    real: { type: 'boolean', default: false },
    control: { type: 'boolean', default: false }
  }
})
const agents = Object.entries(computers)
const kinds = agents.find(([name]) => name === values.agent)?.[1]
if (!kinds) {
  console.error(`--agent is one of ${agents.map(([name]) => name).join(', ')}.`)
  process.exit(78)
}

if (values.control) process.env['NODE_OPTIONS'] = `--import ${join(import.meta.dirname, 'new-names.mjs')}`
const recorded = recordRun({ proof: 'kills', seed: Number(values.seed), control: values.control ? 'new-names' : undefined })
const closings: (() => unknown)[] = []
const t = { teardown: (close: () => unknown) => void closings.unshift(close) }
const data = mkdtempSync(join(tmpdir(), 'afield-kills-'))
console.log(`${values.rounds} rounds with seed ${values.seed}, with ${values.real ? 'the real' : 'a fake'} ${values.agent}`)
let isInterrupted = false
process.once('SIGINT', () => (isInterrupted = true))
let begun = 0
try {
  const verdict = await runRounds(t, {
    data,
    rounds: Number(values.rounds),
    lines: values.real ? 6 : 25,
    random: seededRandom(Number(values.seed)),
    computer: server => kinds[values.real ? 'real' : 'fake'](t, server),
    goesOn: () => !isInterrupted,
    onRound(sentence) {
      begun += 1
      console.log(sentence)
    }
  })
  const { said, lost, doubled, isMisplaced, unended } = verdict
  const violations = lost.length + doubled.length + Number(isMisplaced) + Math.abs(unended)
  recorded.tell({ rounds: begun, checks: said, violations })
  for (const line of lost) console.log(`lost: ${line}`)
  for (const line of doubled) console.log(`doubled: ${line}`)
  console.log(
    `Of ${said} lines ${lost.length} were lost and ${doubled.length} doubled; ${isMisplaced ? 'not all' : 'all'} in order; ${unended} turns without an end.`
  )
  console.log(isKept(verdict) ? 'Every promise was kept.' : 'Promises were broken.')
  process.exitCode = isKept(verdict) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  // On a terminal the Ctrl-C that ended it reached the servers, too.
  if (!isInterrupted) recorded.tell({ rounds: begun, checks: 0, violations: 1 })
  process.exitCode = 1
}
for (const close of closings) await close()
rmSync(data, { recursive: true, maxRetries: 3 })
process.exit()
