import { type Child, startChild } from './child.ts'

const kinds = ['bare', 'afield'] as const
type Kind = (typeof kinds)[number]
type Figures = Record<Kind, number[]>

interface Compared {
  /** The bench file itself, which is run again as the server. */
  file: string
  title: string
  rounds: number
}

interface Comparison extends Compared {
  unit: string
  accounts?: number
  /** One figure for one server; both servers are new. */
  measure: (child: Child) => Promise<number>
}

/** Measures bare and Afield one after the other in each round, prints the medians and their ratio, and returns the medians. */
export async function compare({ file, title, unit, rounds, accounts, measure }: Comparison): Promise<Record<Kind, number>> {
  const figures: Figures = { bare: [], afield: [] }
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      const child = await startChild(file, kind, accounts)
      figures[kind].push(await measure(child))
      await child.stop()
    }
  }
  return shown({ title, unit, figures })
}

/** Clients of one server, which give it as many pieces of work as asked. */
export interface Load {
  run(pieces: number): Promise<void>
  close(): Promise<void>
}

interface CostComparison extends Compared {
  /** In each round. */
  pieces: number
  open: (child: Child) => Promise<Load>
}

/** How often the two servers take turns in a round: other programs come and go within seconds, and should meet both. */
const turns = 20

/**
 * The same for the processor time of one piece of work. Both servers run at once and work in turns, which of them
 * first alternately; a ratio is that of two turns next to each other. What a server does while it has no work is not counted.
 */
export async function compareCosts({ file, title, rounds, pieces, open }: CostComparison): Promise<Record<Kind, number>> {
  const figures: Figures = { bare: [], afield: [] }
  for (let round = 0; round < rounds; round++) {
    const children = await Promise.all(kinds.map(async kind => ({ kind, child: await startChild(file, kind) })))
    const servers = await Promise.all(children.map(async one => ({ ...one, load: await open(one.child) })))
    for (let turn = 0; turn < turns / 4; turn++) for (const { load } of servers) await load.run(pieces / turns)
    for (let turn = 0; turn < turns; turn++) {
      for (const { kind, child, load } of turn % 2 === 0 ? servers : servers.toReversed())
        figures[kind].push(await costOf(child, pieces / turns, load))
    }
    for (const { child, load } of servers) {
      await load.close()
      await child.stop()
    }
  }
  return shown({ title, unit: 'µs', figures })
}

/** Processor time of the server per piece of work, in microseconds. */
export async function costOf(child: Child, pieces: number, { run }: Pick<Load, 'run'>): Promise<number> {
  const before = await child.cpuUs()
  await run(pieces)
  return ((await child.cpuUs()) - before) / pieces
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function shown({ title, unit, figures: { bare, afield } }: { title: string; unit: string; figures: Figures }): Record<Kind, number> {
  const ratio = median(afield.map((figure, at) => figure / (bare[at] ?? Number.NaN)))
  const medianOf = (figures: number[]) => `${median(figures).toFixed(1)} ${unit}`.padStart(6 + unit.length)
  console.log(`  ${title.padEnd(26)} bare ${medianOf(bare)}   afield ${medianOf(afield)}   ratio ${ratio.toFixed(2)}`)
  return { bare: median(bare), afield: median(afield) }
}
