import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { recordRun } from '../torture/record.ts'

// node test/storm/run.ts [--clients 5000] [--accounts 50] [--seed 1]   kills and restarts a server that many clients are connected to [S5]
// With --control the clients all wait equally long, and the run must end with a complaint.
const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '5000' },
    accounts: { type: 'string', default: '50' },
    seed: { type: 'string' },
    control: { type: 'boolean', default: false }
  }
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)

if (values.control) await import(new URL('equal-waits.mjs', import.meta.url).href)
// Its clients run in this process, so they are loaded after what changes them.
const { runStorm } = await import('./storm.ts')

const recorded = recordRun({ proof: 'storm', seed, control: values.control ? 'equal-waits' : undefined })
const data = mkdtempSync(join(tmpdir(), 'afield-storm-'))
const { complaints, messages, backAfterMs } = await runStorm({
  data,
  clients: Number(values.clients),
  accounts: Number(values.accounts),
  seed
})
rmSync(data, { recursive: true })
// Each client must have every message of its session, of which each account has one.
const checks = Math.round((messages * backAfterMs.length) / Number(values.accounts))
recorded.tell({ rounds: 1, checks, violations: complaints.length, counts: { clients: backAfterMs.length, messages } })
const sorted = backAfterMs.toSorted((a, b) => a - b)
const after = (share: number) => `${((sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN) / 1000).toFixed(1)} s`
console.log(
  `seed ${seed}: ${sorted.length} clients, ${messages} messages: half were back after ${after(0.5)}, 99 % after ${after(0.99)}, all after ${after(1)}`
)
for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`)
console.log(complaints.length === 0 ? 'Every promise was kept.' : `${complaints.length} promises were broken.`)
process.exit(complaints.length > 0 ? 1 : 0)
