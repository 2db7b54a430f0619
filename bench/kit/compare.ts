import { type Child, startChild } from './child.ts'

type Kind = 'bare' | 'afield'

interface Comparison {
  /** The bench file itself, which is run again as the server. */
  file: string
  title: string
  unit: string
  rounds: number
  accounts?: number
  /** One figure for one server; both servers are new. */
  measure: (child: Child) => Promise<number>
}

/** Measures bare and Afield alternately, so that other load affects both, prints the medians and their ratio, and returns the medians. */
export async function compare({ file, title, unit, rounds, accounts, measure }: Comparison): Promise<Record<Kind, number>> {
  const bare: number[] = []
  const ours: number[] = []
  const once = async (kind: Kind) => {
    const child = await startChild(file, kind, accounts)
    const figure = await measure(child)
    await child.stop()
    return figure
  }
  for (let round = 0; round < rounds; round++) {
    bare.push(await once('bare'))
    ours.push(await once('afield'))
  }
  const ratio = median(ours.map((figure, round) => figure / (bare[round] ?? Number.NaN)))
  const shown = (figures: number[]) => `${median(figures).toFixed(1)} ${unit}`.padStart(6 + unit.length)
  console.log(`  ${title.padEnd(26)} bare ${shown(bare)}   afield ${shown(ours)}   ratio ${ratio.toFixed(2)}`)
  return { bare: median(bare), afield: median(ours) }
}

/** Processor time of the server per unit of work, in microseconds; a quarter as much runs before as warm-up, until the code is compiled. */
export async function costOf(child: Child, pieces: number, work: (pieces: number) => Promise<void>): Promise<number> {
  await work(pieces / 4)
  const before = await child.cpuUs()
  await work(pieces)
  return ((await child.cpuUs()) - before) / pieces
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
