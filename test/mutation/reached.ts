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

/** A line of the file. Texts are kept as their hashes: what was known of another text says nothing. */
interface Line {
  test: string
  text: string
  seconds: number
  /** The positions that it reaches in each source. */
  reached: Record<string, { text: string; at: number[] }>
}

/** The copies in which tests run at once. */
const lanes = 2
const mostSeconds = 240

/**
 * Which tests reach which places of the sources. Runs each test that is not in the file yet, without a change. One that fails
 * here is run again when no other runs, and is unknown if it fails again.
 */
export async function lookAtTests({ root, files, tests, read, texts, kept, show }: Looking): Promise<Map<string, Known>> {
  const hashes = new Map([...texts].map(([file, text]) => [file, hashOf(text)]))
  const known = new Map(linesOf(kept).map(line => [line.test, line]))
  const nearest = nearestTests({ files, tests, read })
  const [opensApp, opensBrowser] = ['web/bundle.mjs', 'test/kit/chromium.ts'].map(file => new Set(nearest(file).map(({ test }) => test)))
  const waiting = tests.filter(test => known.get(test)?.text !== hashOf(read(test)))
  if (waiting.length > 0) await lookAtAll()
  return new Map([...known].map(([test, line]) => [test, knownOf(line, hashes)]))

  async function lookAtAll(): Promise<void> {
    for (const test of waiting) known.delete(test)
    const places = placesOf(texts)
    const copies = Array.from({ length: lanes }, () => new TreeCopy(root, files, places))
    const began = performance.now()
    const failed: string[] = []
    let ended = 0
    const look = async (copy: TreeCopy, test: string, again: string[]) => {
      const near = { test, opensApp: opensApp?.has(test) === true, opensBrowser: opensBrowser?.has(test) === true }
      const found = await copy.look(near, mostSeconds)
      if (!found) again.push(test)
      else keep({ test, text: hashOf(read(test)), seconds: Math.round(found.seconds * 10) / 10, reached: byFile(found, hashes) })
      ended += 1
      const left = ((performance.now() - began) / ended) * (waiting.length - ended)
      if (ended % 20 === 0 && left > 0) show(`${ended}/${waiting.length} tests looked at; about ${Math.ceil(left / 60_000)} min left`)
    }
    try {
      const queue = waiting.values()
      await Promise.all(
        copies.map(async copy => {
          for (const test of queue) await look(copy, test, failed)
        })
      )
      const [copy] = copies
      const unknown: string[] = []
      if (copy) for (const test of failed) await look(copy, test, unknown)
      if (unknown.length > 0) show(`these fail here: ${unknown.join(' ')}`)
    } finally {
      for (const copy of copies) copy.close()
    }
  }

  function keep(line: Line): void {
    known.set(line.test, line)
    appendFileSync(kept, `${JSON.stringify(line)}\n`)
  }
}

function knownOf({ seconds, reached }: Line, hashes: ReadonlyMap<string, string>): Known {
  const same = Object.entries(reached).filter(([file, { text }]) => hashes.get(file) === text)
  return {
    places: new Set(same.flatMap(([file, { at }]) => at.map(position => `${file} ${position}`))),
    whole: new Set(same.map(([file]) => file)),
    seconds
  }
}

/** Of all sources, also those that are not reached. */
function byFile({ places }: Known, hashes: ReadonlyMap<string, string>): Line['reached'] {
  const reached = Object.fromEntries([...hashes].map(([file, text]) => [file, { text, at: [] as number[] }]))
  for (const key of places) {
    const [file = '', position] = key.split(' ')
    reached[file]?.at.push(Number(position))
  }
  return reached
}

function placesOf(texts: ReadonlyMap<string, string>): Place[] {
  const places = [...parse(texts)].flatMap(([file, source]) =>
    functionsOf(source).flatMap(({ mutations }) => mutations.map(({ reaching }) => ({ file, reaching })))
  )
  return [...new Map(places.map(place => [keyOf(place), place])).values()]
}

function linesOf(kept: string): Line[] {
  const lines = existsSync(kept) ? readFileSync(kept, 'utf8').split('\n') : []
  return lines.filter(line => line !== '').map((line): Line => JSON.parse(line))
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}
