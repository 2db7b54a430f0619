import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { apply, type Edit } from './mutations.ts'

/** A place of a file that can be changed. */
export interface Place {
  file: string
  /** Edits that run `code` whenever the place is reached. */
  reaching(code: string): Edit[]
}

export interface Change extends Place {
  edit: Edit
}

/** Tells which of these places a test reaches: each notes it on its own, in the processes that a test starts and in a browser. */
export class Notes {
  /** Each process adds the numbers of the places that it reaches to a file of its own. */
  readonly #folder: string
  readonly #places: readonly Place[]
  readonly #keys: readonly string[]
  readonly #numbers: ReadonlyMap<string, number>

  constructor(folder: string, places: readonly Place[]) {
    this.#folder = folder
    this.#places = [...new Map(places.map(each => [keyOf(each), each])).values()]
    this.#keys = this.#places.map(keyOf)
    this.#numbers = new Map(this.#keys.map((key, index) => [key, index]))
  }

  /** The text of a file with its notes, and a change of it. A change can remove places inside it, with their notes. */
  textWith(file: string, text: string, change?: Change): string {
    const isRemoved = (note: Edit[]) =>
      change !== undefined &&
      startOf(note) !== startOf(change.reaching('')) &&
      note.every(({ from }) => from >= change.edit.from && from <= change.edit.to)
    const call = (place: Place) => `afieldReached(${this.#numbers.get(keyOf(place))})`
    const inFile = this.#places.filter(each => each.file === file).map(each => each.reaching(call(each)))
    const notes = inFile.filter(note => !isRemoved(note)).toSorted((a, b) => startOf(a) - startOf(b))
    const [openings, endings] = [notes.flatMap(note => note.slice(0, 1)), notes.toReversed().flatMap(note => note.slice(1))]
    // Where several end at one position, the inner first.
    return apply(text, [...endings, ...openings, ...(change ? [change.edit] : [])]) + this.#helper
  }

  // Modules that import each other call it before they have run, so it is a function. What a task reached is noted at its end.
  // Pages have no files: note-pages.mjs hears their consoles. A program of another user cannot write here.
  get #helper(): string {
    const inNode = `process.getBuiltinModule('fs').appendFileSync(${JSON.stringify(`${this.#folder}/`)} + process.pid, numbers.replaceAll(' ', '\\n') + '\\n')`
    return `
var afieldPlaces
function afieldReached(number) {
  afieldPlaces ??= globalThis.afieldPlaces ??= []
  if (afieldPlaces[number]) return
  afieldPlaces[number] = true
  const untold = globalThis.afieldUntold ??= []
  if (untold.push(number) > 1) return
  const isNode = globalThis.process?.getBuiltinModule !== undefined
  const tell = () => {
    const numbers = untold.splice(0).join(' ')
    if (numbers === '') return
    try { if (isNode) ${inNode}; else console.debug('afield-reached ' + numbers) } catch {}
  }
  queueMicrotask(tell)
  if (isNode && !globalThis.afieldTells) process.once('exit', globalThis.afieldTells = tell)
}
`
  }

  forget(): void {
    for (const name of readdirSync(this.#folder)) rmSync(join(this.#folder, name))
  }

  /** The keys of the places that were reached since. */
  noted(): Set<string> {
    const lines = readdirSync(this.#folder).flatMap(name => readFileSync(join(this.#folder, name), 'utf8').split('\n'))
    return new Set(lines.map(line => (line === '' ? undefined : this.#keys[Number(line)])).filter(key => key !== undefined))
  }
}

/** Tells places apart, also when other changes are made at the same. */
export function keyOf({ file, reaching }: Place): string {
  return `${file} ${startOf(reaching(''))}`
}

function startOf([first]: readonly Edit[]): number {
  return first?.from ?? 0
}
