import { createHash } from 'node:crypto'
import { sampleSeed } from '../../kit/seed.ts'

/** A sample of them, as large as a run has time for, chosen by AFIELD_SEED; all of them with AFIELD_SEED=all. */
export function sampleOf(paths: readonly string[], many: number): { seed: string; sample: readonly string[] } {
  const { text: seed } = sampleSeed
  if (sampleSeed.isAll) return { seed, sample: paths }
  const order = (path: string) => createHash('sha256').update(`${seed} ${path}`).digest('hex')
  return { seed, sample: [...paths].sort((a, b) => order(a).localeCompare(order(b))).slice(0, many) }
}
