import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { recordRun } from '../torture/record.ts'
import { fuzz, megabytes, type Outcome } from './campaign.ts'

// npm run fuzz -- [--seconds 600] [--seed S]   everything but what the server expects, to a server in a process of its own
// With --control the server trusts that JSON is JSON, and the run must end with findings. Ctrl-C ends it early.
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    control: { type: 'boolean', default: false }
  }
})
const data = mkdtempSync(join(tmpdir(), 'afield-fuzz-'))
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
const recorded = recordRun({ proof: 'fuzz', seed: Number(values.seed), control: values.control ? 'trust-json' : undefined })
const record = ({ inputs, findings }: Outcome) => recorded.tell({ rounds: 1, checks: inputs, violations: findings.length })
console.log(`${values.seconds} seconds with seed ${values.seed}`)
const outcome = await fuzz({
  data,
  seconds: Number(values.seconds),
  seed: Number(values.seed),
  nodeArgs: values.control ? ['--import', join(import.meta.dirname, 'trust-json.mjs')] : [],
  until: interrupted.signal,
  show(line, outcome) {
    console.log(line)
    record(outcome)
  }
})
rmSync(data, { recursive: true, force: true })

const { inputs, findings, memory } = outcome
const warm = memory.slice(2, 5)
const last = memory.slice(-3)
// Caches fill; what leaks with every input grows by far more than this.
const isFlat = memory.length < 8 || Math.min(...last) < Math.max(...warm) * 1.2 + 16e6
if (!isFlat) findings.push(`The memory of the server was not flat: ${memory.map(megabytes).join(' ')}.`)
record(outcome)
for (const finding of findings.slice(0, 20)) console.log(`  ${finding.slice(0, 2_000)}`)
console.log(`memory: ${memory.map(megabytes).join(' ')}`)
console.log(`${inputs} inputs, ${findings.length} findings`)
process.exitCode = findings.length === 0 ? 0 : 1
