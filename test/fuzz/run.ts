import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { memoryFolder } from '../kit/memory-folder.ts'
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
const closers: (() => void)[] = []
// A run is not about disks, and would wait for them most of the time.
const data = memoryFolder({ teardown: (close: () => void) => void closers.push(close) })
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
const recorded = recordRun({ proof: 'fuzz', seed: Number(values.seed), control: values.control ? 'trust-json' : undefined })
const record = ({ tally, messages }: Outcome) =>
  recorded.tell({
    rounds: 1,
    checks: tally.total,
    violations: tally.findings.length,
    counts: { ...Object.fromEntries(tally.inputs), 'messages of somebody else': messages }
  })
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
for (const close of closers) close()

const { tally, memory } = outcome
const perSecond = Math.round(tally.total / outcome.seconds)
const warm = memory.slice(2, 5)
const last = memory.slice(-3)
// Caches fill; what leaks with every input grows by far more than this.
const isFlat = memory.length < 8 || Math.min(...last) < Math.max(...warm) * 1.2 + 16e6
if (!isFlat) tally.found(`The memory of the server was not flat: ${memory.map(megabytes).join(' ')}.`)
record(outcome)
for (const finding of tally.findings.slice(0, 20)) console.log(`  ${finding.slice(0, 2_000)}`)
console.log(`memory: ${memory.map(megabytes).join(' ')}`)
console.log([...tally.inputs].map(([layer, inputs]) => `${inputs} ${layer}`).join(', '))
console.log(
  `${tally.total} inputs, ${perSecond} per second; ${outcome.messages} messages of somebody else; ${tally.findings.length} findings`
)
process.exitCode = tally.findings.length === 0 ? 0 : 1
