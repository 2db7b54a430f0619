import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { lacks } from '../kit/needs.ts'
import { runCampaign } from './rounds.ts'

// node build.mjs instances [--instances 3] [--operations 100000] [--seconds N] [--seed 7]   histories of clients that hop between instances,
// while these, Redis and PostgreSQL are killed, stopped, emptied and drained
// With --control seq-outside or --control silent-bus a promise is broken on purpose, and the run must end with complaints.
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
if (missing || (control !== undefined && !['seq-outside', 'silent-bus'].includes(control))) {
  console.error(missing || '--control is one of seq-outside, silent-bus.')
  process.exit(78)
}
// Without a measure of its own, a run ends with its operations.
const mostOperations = Number(values.operations ?? (values.seconds === undefined ? 100_000 : Number.POSITIVE_INFINITY))
const mostSeconds = Number(values.seconds ?? Number.POSITIVE_INFINITY)

const closings: (() => unknown)[] = []
const began = performance.now()
const seconds = () => (performance.now() - began) / 1000
console.log(`${instances} instances with seed ${seed}${control === undefined ? '' : `, broken by ${control}`}`)
const { rounds, operations, maybe, messages, versions, seenLive, connections, complaints } = await runCampaign(
  { teardown: (close: () => unknown) => void closings.unshift(close) },
  {
    instances: Number(instances),
    seed: Number(seed),
    nodeArgs: control === undefined ? [] : ['--import', join(import.meta.dirname, `${control}.mjs`)],
    loadMs: [1_000, 8_000],
    goesOn: ({ operations }) => operations < mostOperations && seconds() < mostSeconds,
    each: (round, { rounds, operations, maybe, messages, seenLive }) =>
      console.log(`${rounds}: ${round}; ${operations} operations (${maybe} maybe), ${messages} messages, ${seenLive} seen live`)
  }
).finally(async () => {
  for (const close of closings) await close()
})
const megabytes = Math.round(process.memoryUsage.rss() / 1e6)
console.log(
  `${operations} operations in ${seconds().toFixed(0)} s and ${rounds} rounds, ${maybe} of them maybe done: ${messages} messages and ` +
    `${versions} versions stored, ${seenLive} updates over ${connections} connections; ${megabytes} MB here`
)
for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`)
if (complaints.length > 20) console.log(`  … and ${complaints.length - 20} more`)
console.log(complaints.length === 0 ? 'Every promise was kept.' : `${complaints.length} promises were broken.`)
process.exit(complaints.length > 0 ? 1 : 0)
