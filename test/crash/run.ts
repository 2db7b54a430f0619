import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { disksProblem, openDisks } from './disks.ts'
import { findFaultPoints, killAt, straceProblem } from './fault-points.ts'
import { cutPower } from './power-cuts.ts'
import { runRounds } from './rounds.ts'

// node build.mjs crash [--rounds 1000] [--seed 7]   SIGKILL at random moments under load, on the same data
// node build.mjs crash --sweep                      SIGKILL at every fsync and write of a script, each on new data
// node build.mjs crash --power --rounds 200         cuts the power of the disk under load, on a new disk each time; needs root
// With --control the server breaks the promise on purpose, and the run must end with complaints.
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    sweep: { type: 'boolean', default: false },
    power: { type: 'boolean', default: false },
    control: { type: 'boolean', default: false }
  }
})

const complaints = await run(Number(values.rounds), Number(values.seed))
for (const complaint of complaints.slice(0, 20)) console.log(`  ${complaint}`)
if (complaints.length > 20) console.log(`  … and ${complaints.length - 20} more`)
console.log(complaints.length === 0 ? 'Every promise was kept.' : `${complaints.length} promises were broken.`)
process.exitCode = complaints.length > 0 ? 1 : 0

function run(rounds: number, seed: number): Promise<string[]> {
  if (values.sweep) return sweep()
  return values.power ? cutPowerOften(rounds, seed) : kill(rounds, seed)
}

async function cutPowerOften(rounds: number, seed: number): Promise<string[]> {
  const problem = disksProblem()
  if (problem !== undefined) throw new Error(problem)
  console.log(`${rounds} cuts from seed ${seed}${values.control ? ', syncing nothing' : ''}`)
  const disks = openDisks()
  const complaints: string[] = []
  try {
    for (let round = 0; round < rounds && complaints.length === 0; round += 1) {
      const cut = await cutPower({ disks, seed: seed + round, nodeArgs: preload('sync-never.mjs') })
      complaints.push(...cut.complaints)
      console.log(`cut ${round + 1}: ${cut.stored} messages on disk, ${cut.answered} answers, ${cut.seenLive} seen live`)
    }
  } finally {
    disks.close()
  }
  return complaints
}

async function kill(rounds: number, seed: number): Promise<string[]> {
  console.log(`${rounds} rounds with seed ${seed}${values.control ? ', answering before the commit' : ''}`)
  const data = mkdtempSync(join(tmpdir(), 'afield-crash-'))
  const { complaints } = await runRounds({
    data,
    nodeArgs: preload('answer-early.mjs'),
    rounds,
    seed,
    each: ({ rounds, stored, answered, seenLive, seenInPages }) =>
      console.log(`round ${rounds}: ${stored} messages on disk, ${answered} answers, ${seenLive} seen live, ${seenInPages} read`)
  })
  rmSync(data, { recursive: true })
  return complaints
}

async function sweep(): Promise<string[]> {
  const problem = straceProblem()
  if (problem !== undefined) throw new Error(problem)
  const points = await findFaultPoints()
  console.log(`${points.length} points${values.control ? ', counting messages in a transaction of its own' : ''}`)
  const complaints: string[] = []
  for (const point of points) {
    const broken = await killAt(point, preload('count-later.mjs'))
    complaints.push(...broken.map(complaint => `${point.call} ${point.k}: ${complaint}`))
  }
  return complaints
}

function preload(spoiler: string): string[] {
  return values.control ? ['--import', join(import.meta.dirname, spoiler)] : []
}
