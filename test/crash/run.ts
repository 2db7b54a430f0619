import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { recordRun, type Totals } from '../torture/record.ts'
import { disksProblem, openDisks } from './disks.ts'
import { type FaultPoint, failFrom, findFaultPoints, type Judged, killAt, straceProblem } from './fault-points.ts'
import { cutPower } from './power-cuts.ts'
import { seededRandom } from './random.ts'
import { runRounds } from './rounds.ts'

// node build.mjs crash [--rounds 1000] [--seed 7]   SIGKILL at random moments under load, on the same data
// node build.mjs crash --sweep                      SIGKILL at every fsync and write of a script, each on new data; with --rounds at so many of them
// node build.mjs crash --errors                     EIO or ENOSPC from each fsync and write on, otherwise the same
// node build.mjs crash --power --rounds 200         cuts the power of the disk under load, on a new disk each time; needs root
// With --control the server breaks the promise on purpose, and the run must end with complaints.
// Ctrl-C ends it after the round under way.
const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    sweep: { type: 'boolean', default: false },
    errors: { type: 'boolean', default: false },
    power: { type: 'boolean', default: false },
    control: { type: 'boolean', default: false }
  }
})
const seed = Number(values.seed)
const rounds = Number(values.rounds ?? 100)
let isInterrupted = false
process.once('SIGINT', () => (isInterrupted = true))

const complaints = await run()
for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`)
if (complaints.length > 20) console.log(`  … and ${complaints.length - 20} more`)
console.log(complaints.length === 0 ? 'Every promise was kept.' : `${complaints.length} promises were broken.`)
process.exitCode = complaints.length > 0 ? 1 : 0

function run(): Promise<string[]> {
  if (values.sweep) return killAtPoints()
  if (values.errors) return failAtPoints()
  return values.power ? cutPowerOften() : kill()
}

async function cutPowerOften(): Promise<string[]> {
  const problem = disksProblem()
  if (problem !== undefined) cannotRun(problem)
  console.log(`${rounds} cuts from seed ${seed}${values.control ? ', syncing nothing' : ''}`)
  const recorded = recordRun({ proof: 'power', seed, control: controlled('sync-never') })
  const totals = { rounds: 0, checks: 0, violations: 0 }
  const disks = openDisks()
  const complaints: string[] = []
  try {
    while (totals.rounds < rounds && complaints.length === 0 && !isInterrupted) {
      const cut = await cutPower({ disks, seed: seed + totals.rounds, nodeArgs: preload('sync-never') })
      complaints.push(...cut.complaints)
      totals.rounds += 1
      totals.checks += cut.answered + cut.seenLive + cut.seenInPages
      totals.violations = complaints.length
      recorded.tell(totals)
      console.log(`cut ${totals.rounds}: ${cut.stored} messages on disk, ${cut.answered} answers, ${cut.seenLive} seen live`)
    }
  } finally {
    disks.close()
  }
  return complaints
}

async function kill(): Promise<string[]> {
  console.log(`${rounds} rounds with seed ${seed}${values.control ? ', answering before the commit' : ''}`)
  const recorded = recordRun({ proof: 'crash', seed, control: controlled('answer-early') })
  const data = mkdtempSync(join(tmpdir(), 'afield-crash-'))
  const { complaints } = await runRounds({
    data,
    nodeArgs: preload('answer-early'),
    rounds,
    seed,
    goesOn: () => !isInterrupted,
    each({ rounds, stored, answered, seenLive, seenInPages, complaints }) {
      recorded.tell({ rounds, checks: answered + seenLive + seenInPages, violations: complaints.length, counts: { messages: stored } })
      console.log(`round ${rounds}: ${stored} messages on disk, ${answered} answers, ${seenLive} seen live, ${seenInPages} read`)
    }
  })
  rmSync(data, { recursive: true })
  return complaints
}

function killAtPoints(): Promise<string[]> {
  const recorded = recordRun({ proof: 'sweep', seed, control: controlled('count-later') })
  return atPoints(recorded.tell, 'counting messages in a transaction of its own', point => killAt(point, preload('count-later')))
}

/** A call that writes fails with either error, one that syncs with EIO: it needs no room. */
function failAtPoints(): Promise<string[]> {
  const recorded = recordRun({ proof: 'errors', seed, control: controlled('answer-early') })
  return atPoints(recorded.tell, 'answering before the commit', async point => {
    const read = await failFrom(point, 'EIO', preload('answer-early'))
    if (point.call !== 'pwrite64') return read
    const full = await failFrom(point, 'ENOSPC', preload('answer-early'))
    return { promises: read.promises + full.promises, complaints: [...read.complaints, ...full.complaints] }
  })
}

async function atPoints(tell: (totals: Totals) => void, spoiled: string, judge: (point: FaultPoint) => Promise<Judged>): Promise<string[]> {
  const problem = straceProblem()
  if (problem !== undefined) cannotRun(problem)
  const all = await findFaultPoints()
  const points = values.rounds === undefined ? all : sampleOf(all, rounds)
  console.log(`${points.length} of ${all.length} points${values.control ? `, ${spoiled}` : ''}`)
  const complaints: string[] = []
  const totals = { rounds: 0, checks: 0, violations: 0 }
  for (const point of points) {
    // Of a control it is enough that it was found.
    if (isInterrupted || (values.control && complaints.length > 0)) break
    const judged = await judge(point)
    complaints.push(...judged.complaints.map(complaint => `${point.call} ${point.k}: ${complaint}`))
    totals.rounds += 1
    totals.checks += judged.promises
    totals.violations = complaints.length
    tell(totals)
    console.log(`${totals.rounds}: ${point.call} ${point.k}, ${judged.promises} promises`)
  }
  return complaints
}

function cannotRun(problem: string): never {
  console.error(problem)
  process.exit(78)
}

function sampleOf(points: readonly FaultPoint[], many: number): FaultPoint[] {
  const random = seededRandom(seed)
  return Array.from({ length: many }, () => random.pick(points))
}

function controlled(control: string): string | undefined {
  return values.control ? control : undefined
}

function preload(control: string): string[] {
  return values.control ? ['--import', join(import.meta.dirname, `${control}.mjs`)] : []
}
