import { createHash } from 'node:crypto'

const named = process.env['AFIELD_SEED']
const given = named ?? '1'

/** The seed for all samples of the tests: the same in each run, so that a run can be repeated. The long-running scripts use a new one each time. */
export const sampleSeed = { text: given, number: Number(given) || 1, isAll: given === 'all', isGiven: named !== undefined }

interface Sampling {
  /** Those of a run without AFIELD_SEED. */
  usual?: readonly string[]
  /** Where one file takes several samples of the same: which of them, so that each has others. */
  turn?: number
}

/** A sample of them, as large as a run has time for, chosen by AFIELD_SEED; all of them with AFIELD_SEED=all. */
export function sampleOf(
  all: readonly string[],
  many: number,
  { usual, turn = 0 }: Sampling = {}
): { seed: string; sample: readonly string[] } {
  const { text: seed } = sampleSeed
  if (sampleSeed.isAll) return { seed, sample: all }
  if (usual && !sampleSeed.isGiven) return { seed, sample: usual.slice(0, many) }
  const order = new Map(all.map(name => [name, createHash('sha256').update(`${seed} ${name}`).digest('hex')]))
  const sorted = [...all].sort((a, b) => (order.get(a) ?? '').localeCompare(order.get(b) ?? ''))
  return { seed, sample: Array.from({ length: Math.min(many, all.length) }, (_, at) => sorted[(turn * many + at) % all.length] ?? '') }
}
