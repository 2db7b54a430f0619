import { createHash } from 'node:crypto'

/** As many of them as a run has time for, chosen by AFIELD_SEED; all of them for AFIELD_SEED=all. */
export function sampleOf(paths: readonly string[], many: number): { seed: string; sample: readonly string[] } {
  const seed = process.env['AFIELD_SEED'] ?? String(Date.now())
  if (seed === 'all') return { seed, sample: paths }
  const order = (path: string) => createHash('sha256').update(`${seed} ${path}`).digest('hex')
  return { seed, sample: [...paths].sort((a, b) => order(a).localeCompare(order(b))).slice(0, many) }
}
