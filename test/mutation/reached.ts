import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { nearestTests } from '../kit/reach.ts'
import { functionsOf } from './mutations.ts'
import { keyOf, type Place } from './notes.ts'
import { parse } from './syntax.ts'
import { type Known, TreeCopy } from './trial.ts'

interface Looking {
  root: string
  files: readonly string[]
  tests: readonly string[]
  read(file: string): string
  /** The sources that can be changed. */
  texts: ReadonlyMap<string, string>
  /** A file, to which each test that was looked at is added. */
  kept: string
  show(line: string): void
}

/** A line of the file: a test, and the positions that it reaches in sources. */
interface Looked {
  test: string
  text: string
  seconds: number
  at: Record<string, number[]>
}

/** A line before those of the tests that were looked at with these. Texts are kept as their hashes. */
interface Sources {
  sources: Record<string, string>
}

/** The copies in which tests run at once. */
const lanes = 2
const mostSeconds = 240

/**
 * Which tests reach which places of the sources. Runs each test that is not in the file yet, without a change. One that fails
 * here is run again when no other runs, and is unknown if it fails again. Of sources that have changed since, nothing is known.
 */
export async function lookAtTests({ root, files, tests, read, texts, kept, show }: Looking): Promise<Map<string, Known>> {
  const sources = Object.fromEntries([...texts].map(([file, text]) => [file, hashOf(text)]))
  const known = knownIn(kept, sources)
  const waiting = tests.filter(test => known.get(test)?.text !== hashOf(read(test)))
  for (const test of waiting) known.delete(test)
  if (waiting.length > 0) await lookAtAll()
  return known

  async function lookAtAll(): Promise<void> {
    const [opensApp, opensBrowser] = reachOf(['web/bundle.mjs', 'test/kit/chromium.ts'])
    const nearOf = (test: string) => ({ test, opensApp: opensApp?.has(test) === true, opensBrowser: opensBrowser?.has(test) === true })
    const copies = Array.from({ length: lanes }, () => new TreeCopy(root, files, placesOf(texts)))
    const ended = endsOf(waiting.length, show)
    const failed: string[] = []
    appendFileSync(kept, `${JSON.stringify({ sources } satisfies Sources)}\n`)
    const look = async (copy: TreeCopy, test: string): Promise<boolean> => {
      const found = await copy.look(nearOf(test), mostSeconds)
      if (found) keep(test, found)
      return found !== undefined
    }
    try {
      const queue = waiting.values()
      const runAll = async (copy: TreeCopy) => {
        for (const test of queue) {
          if (!(await look(copy, test))) failed.push(test)
          ended()
        }
      }
      await Promise.all(copies.map(runAll))
      const unknown: string[] = []
      for (const test of failed) if (copies[0] && !(await look(copies[0], test))) unknown.push(test)
      if (unknown.length > 0) show(`these fail here: ${unknown.join(' ')}`)
    } finally {
      for (const copy of copies) copy.close()
    }
  }

  function reachOf(ends: readonly string[]): Set<string>[] {
    const nearest = nearestTests({ files, tests, read })
    return ends.map(file => new Set(nearest(file).map(({ test }) => test)))
  }

  function keep(test: string, found: Known): void {
    const text = hashOf(read(test))
    known.set(test, { ...found, text })
    appendFileSync(
      kept,
      `${JSON.stringify({ test, text, seconds: Math.round(found.seconds * 10) / 10, at: byFile(found) } satisfies Looked)}\n`
    )
  }
}

function endsOf(all: number, show: (line: string) => void): () => void {
  const began = performance.now()
  let ended = 0
  return () => {
    ended += 1
    const left = ((performance.now() - began) / ended) * (all - ended)
    if (ended % 20 === 0 && left > 0) show(`${ended}/${all} tests looked at; about ${Math.ceil(left / 60_000)} min left`)
  }
}

function knownIn(kept: string, now: Sources['sources']): Map<string, Known & { text: string }> {
  const lines = existsSync(kept) ? readFileSync(kept, 'utf8').split('\n') : []
  const known = new Map<string, Known & { text: string }>()
  let same = new Set<string>()
  for (const line of lines.filter(Boolean)) {
    const read: Looked | Sources = JSON.parse(line)
    if ('sources' in read) same = new Set(Object.keys(now).filter(file => read.sources[file] === now[file]))
    else {
      const { test, text, seconds, at } = read
      const places = Object.entries(at).flatMap(([file, found]) => (same.has(file) ? found.map(position => `${file} ${position}`) : []))
      known.set(test, { text, seconds, places: new Set(places), whole: same })
    }
  }
  return known
}

function byFile({ places }: Known): Looked['at'] {
  const at: Looked['at'] = {}
  for (const key of places) {
    const [file = '', position] = key.split(' ')
    at[file] ??= []
    at[file].push(Number(position))
  }
  return at
}

function placesOf(texts: ReadonlyMap<string, string>): Place[] {
  const places = [...parse(texts)].flatMap(([file, source]) =>
    functionsOf(source).flatMap(({ mutations }) => mutations.map(({ reaching }) => ({ file, reaching })))
  )
  return [...new Map(places.map(place => [keyOf(place), place])).values()]
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
