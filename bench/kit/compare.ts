import { type Child, startChild } from './child.ts'

const kinds = ['bare', 'afield'] as const
type Kind = (typeof kinds)[number]

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
  const figures: Record<Kind, number[]> = { bare: [], afield: [] }
  for (let round = 0; round < rounds; round++) {
    for (const kind of kinds) {
      const child = await startChild(file, kind, accounts)
      figures[kind].push(await measure(child))
      await child.stop()
    }
  }
  return showPair(title, unit, figures)
}

/** Clients of one server, which give it as many pieces of work as asked. */
export interface Load {
  run(pieces: number): Promise<void>
  close(): Promise<void>
}

interface InTurns extends Omit<Compared, 'title'> {
  /** In each round. */
  pieces: number
  open: (child: Child) => Promise<Load>
}

/** How often the servers take turns in a round: other programs come and go within seconds, and should meet all of them. */
const turns = 10

/**
 * Processor time that each server has used before it is measured: a server that runs for days has compiled its code.
 * Before that, ours costs up to twice as much, since it has more code than the bare one.
 */
const warmUs = 3_000_000

/** Measures the processor time of one piece of work, prints the medians and their ratio, and returns the medians. */
export async function compareCosts({ title, ...measured }: InTurns & { title: string }): Promise<Record<Kind, number>> {
  const [bare = [], afield = []] = await costsInTurns(kinds, measured)
  return showPair(title, 'µs', { bare, afield })
}

/**
 * The processor time of one piece of work by each kind of server, one figure for each turn. All of them run at once and work in
 * turns, every other time from the last to the first; a ratio is that of the same turn. A turn should be long enough
 * for what a server does only now and then, such as checkpoints of its log. What it does while it has no work is not counted.
 */
export async function costsInTurns(kinds: readonly string[], { file, rounds, pieces, open }: InTurns): Promise<number[][]> {
  const costs = kinds.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    const servers = await Promise.all(
      kinds.map(async (kind, at) => {
        const child = await startChild(file, kind)
        return { child, load: await open(child), costs: costs[at] ?? [] }
      })
    )
    await warm(servers, pieces / turns)
    for (let turn = 0; turn < turns; turn++) {
      for (const { costs, child, load } of turn % 2 === 0 ? servers : servers.toReversed())
        costs.push(await costOf(child, pieces / turns, load))
    }
    for (const { child, load } of servers) {
      await load.close()
      await child.stop()
    }
  }
  return costs
}

/** All get the same work, so that all have stored as much. */
async function warm(servers: { child: Child; load: Load }[], pieces: number): Promise<void> {
  const used = await Promise.all(servers.map(({ child }) => child.cpuUs()))
  if (used.every(us => us >= warmUs)) return
  for (const { load } of servers) await load.run(pieces)
  await warm(servers, pieces)
}

/** Processor time of the server per piece of work, in microseconds. */
export async function costOf(child: Child, pieces: number, { run }: Pick<Load, 'run'>): Promise<number> {
  const before = await child.cpuUs()
  await run(pieces)
  return ((await child.cpuUs()) - before) / pieces
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** The median ratio of figures measured next to each other. */
export function medianRatio(figures: readonly number[], base: readonly number[]): number {
  return median(figures.map((figure, at) => figure / (base[at] ?? Number.NaN)))
}

function showPair(title: string, unit: string, { bare, afield }: Record<Kind, number[]>): Record<Kind, number> {
  const medianOf = (figures: number[]) => `${median(figures).toFixed(1)} ${unit}`.padStart(6 + unit.length)
  console.log(`  ${title.padEnd(26)} bare ${medianOf(bare)}   afield ${medianOf(afield)}   ratio ${medianRatio(afield, bare).toFixed(2)}`)
  return { bare: median(bare), afield: median(afield) }
}
