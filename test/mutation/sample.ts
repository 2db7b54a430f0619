import { seededRandom } from '../crash/random.ts'
import { apply, type Edit, type FunctionOfFile, functionsOf } from './mutations.ts'
import { parse } from './syntax.ts'

/** A source with one small change. */
export interface Sampled {
  part: Part
  /** Its number among those of the part, from 1. */
  number: number
  file: string
  line: number
  function: string
  kind: string
  /** The changed lines. */
  before: string
  after: string
  edit: Edit
  /** Edits that run `code` whenever the changed place is reached. */
  reaching(code: string): Edit[]
}

export type Part = keyof typeof parts

const parts = {
  server: /^(?:sqlite|postgres|redis)\/|^lib\/(?:server|store|bus|backup|transfer|upgrade|doctor|service|local-socket)\/|^lib\/[\w-]+\.ts$/,
  wrapper: /^lib\/(?:wrapper|client|protocol|crypto|async)\/|^bin\/(?!packaging\/)/,
  app: /^web\/(?!words\/)/
}

export const allParts = Object.keys(parts) as Part[]

/** Whether the sampler changes a file: a source of the program, no declarations and no tools. */
export function partOf(file: string): Part | undefined {
  return /\.tsx?$/.test(file) && !file.endsWith('.d.ts') ? allParts.find(part => parts[part].test(file)) : undefined
}

/**
 * Draws changes, evenly over the parts: a function by its size, a kind of change that it allows, and a place. A seed gives
 * the same changes of a part however many are drawn, and with or without the other parts.
 */
export function draw(
  texts: ReadonlyMap<string, string>,
  { seed, count, parts: wanted = allParts }: { seed: number; count: number; parts?: readonly Part[] }
): Sampled[] {
  const drawn = [...parse(texts)].flatMap(([file, source]) => functionsOf(source).map(each => ({ file, ...each })))
  const draws = wanted.map(part => ({
    part,
    next: drawFrom(
      drawn.filter(({ file }) => partOf(file) === part),
      { seed: seed * 31 + allParts.indexOf(part), texts, part }
    )
  }))
  return Array.from({ length: count }, (_, at) => draws[at % draws.length]?.next()).filter(each => each !== undefined)
}

type Candidate = FunctionOfFile & { file: string }

function drawFrom(
  candidates: readonly Candidate[],
  { seed, texts, part }: { seed: number; texts: ReadonlyMap<string, string>; part: Part }
): () => Sampled | undefined {
  const random = seededRandom(seed)
  const ends: number[] = []
  for (const { size } of candidates) ends.push((ends.at(-1) ?? 0) + size)
  const known = new Set<string>()
  const places = candidates.reduce((sum, { mutations }) => sum + mutations.length, 0)
  return () => {
    while (known.size < places) {
      const statement = random.between(1, ends.at(-1) ?? 1)
      const candidate = candidates[ends.findIndex(end => end >= statement)]
      if (!candidate) return undefined
      const kind = random.pick([...new Set(candidate.mutations.map(mutation => mutation.kind))])
      const mutation = random.pick(candidate.mutations.filter(mutation => mutation.kind === kind))
      const key = `${candidate.file} ${mutation.from} ${mutation.to} ${mutation.text}`
      if (known.has(key)) continue
      known.add(key)
      const source = texts.get(candidate.file) ?? ''
      return {
        part,
        number: known.size,
        file: candidate.file,
        function: candidate.name,
        kind,
        ...changeOf(source, mutation),
        edit: mutation,
        reaching: mutation.reaching
      }
    }
    return undefined
  }
}

function changeOf(source: string, mutation: Edit): { line: number; before: string; after: string } {
  const from = source.lastIndexOf('\n', mutation.from - 1) + 1
  const end = source.indexOf('\n', mutation.to)
  const to = end < 0 ? source.length : end
  const before = source.slice(from, to)
  const after = apply(before, [{ from: mutation.from - from, to: mutation.to - from, text: mutation.text }])
  return { line: source.slice(0, mutation.from).split('\n').length, before, after }
}
