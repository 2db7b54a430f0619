import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { lacks } from '../kit/needs.ts'
import { recordRun } from '../torture/record.ts'
import { allFaults, type Fault } from './faults.ts'
import { type CampaignReport, runCampaign } from './rounds.ts'

// node build.mjs instances [--instances 3] [--operations 100000] [--seconds N] [--seed 7]   histories of clients that hop between instances,
// while these, Redis and PostgreSQL are killed, stopped, emptied and drained
// An operation is one request that ended (a batch, a page, or settings read or replaced), or one batch on a socket with the ping after it.
// With --control seq-outside, silent-bus or late-look a promise is broken on purpose, and the run must end with complaints.
// Ctrl-C ends the load; what was told until then is judged as after a whole run. A second one ends at once.
/** Each with the faults under which what it breaks is a promise. */
const controls: Readonly<Record<string, readonly Fault[]>> = {
  'seq-outside': allFaults,
  'silent-bus': allFaults,
  'late-look': ['Redis away']
}
const { values } = parseArgs({
  options: {
    instances: { type: 'string', default: '3' },
    operations: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    control: { type: 'string' }
  }
})
const { instances, seed, control } = values
const missing = lacks('postgresql') || lacks('redis')
if (missing || (control !== undefined && !Object.hasOwn(controls, control))) {
  console.error(missing || `--control is one of ${Object.keys(controls).join(', ')}.`)
  process.exit(78)
}
// Without a measure of its own, a run ends with its operations.
const mostOperations = Number(values.operations ?? (values.seconds === undefined ? 100_000 : Number.POSITIVE_INFINITY))
const mostSeconds = Number(values.seconds ?? Number.POSITIVE_INFINITY)

const closings: (() => unknown)[] = []
const began = performance.now()
const seconds = () => (performance.now() - began) / 1000
const megabytes = () => Math.round(process.memoryUsage.rss() / 1e6)
const showCounts = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([kind, many]) => `${kind} ${many}`)
    .join(', ') || 'none'
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())

// An update that a connection was sent is a check as much as an answer is.
const recorded = recordRun({ proof: 'instances', seed: Number(seed), control })
const record = ({ rounds, operations, messages, seenLive, complaints }: CampaignReport) =>
  recorded.tell({
    rounds,
    checks: operations + seenLive,
    violations: complaints.length,
    counts: { operations, messages, 'live updates': seenLive }
  })

/** Of this process, when a tenth of the whole was done. */
let megabytesAtTenth: number | undefined
const share = ({ operations }: CampaignReport) => Math.max(operations / mostOperations, seconds() / mostSeconds)

function progress(report: CampaignReport): void {
  const { rounds, operations, maybe, messages, remembered, seenLive, complaints } = report
  if (share(report) >= 0.1) megabytesAtTenth ??= megabytes()
  console.log(
    `${seconds().toFixed(0)} s, round ${rounds}: ${operations} operations (${maybe} maybe), ${messages} messages, ${seenLive} seen live, ` +
      `${remembered} remembered, ${complaints.length} complaints; ${megabytes()} MB here`
  )
}

console.log(`${instances} instances with seed ${seed}${control === undefined ? '' : `, broken by ${control}`}`)
let timer: NodeJS.Timeout | undefined
const report = await runCampaign(
  { teardown: (close: () => unknown) => void closings.unshift(close) },
  {
    instances: Number(instances),
    seed: Number(seed),
    faults: controls[control ?? ''] ?? allFaults,
    nodeArgs: control === undefined ? [] : ['--import', join(import.meta.dirname, `${control}.mjs`)],
    crowd: { accounts: 3, batchWritersPerSession: 8, readersPerSession: 2 },
    loadMs: [1_000, 12_000],
    until: interrupted.signal,
    goesOn(report) {
      record(report)
      // Of a control it is enough that it was found.
      return share(report) < 1 && !(control !== undefined && report.complaints.length > 0)
    },
    onReady(report) {
      timer = setInterval(() => progress(report()), 5_000)
    }
  }
).finally(async () => {
  clearInterval(timer)
  for (const close of closings) await close()
})
record(report)
const { rounds, operations, maybe, messages, versions, seenLive, connections, complaints, around } = report
console.log(
  `${operations} operations in ${seconds().toFixed(0)} s and ${rounds} rounds, ${maybe} of them maybe done: ${showCounts(report.operationsOf)}`
)
console.log(`Faults: ${showCounts(report.faultsOf)}`)
console.log(`${messages} messages and ${versions} versions stored, ${seenLive} updates over ${connections} connections`)
console.log(`Memory of this process: ${megabytesAtTenth ?? '?'} MB at a tenth, ${megabytes()} MB at the end`)
for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`)
if (complaints.length > 20) console.log(`  … and ${complaints.length - 20} more`)
if (around.length > 0) console.log(`Before the first of them:\n${around.map(line => `  ${line}`).join('\n')}`)
console.log(complaints.length === 0 ? 'Every promise was kept.' : `${complaints.length} promises were broken.`)
process.exit(complaints.length > 0 ? 1 : 0)
