import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Edit } from './mutations.ts'

/** A function of a file. */
export interface Watched {
  file: string
  /** Edits that run `code` whenever it is called. */
  calling(code: string): Edit[]
}

/** Tells which of these functions a test calls: each notes it on its own, in the processes that a test starts and in a browser. */
export class Calls {
  /** A file in it, named by its number, says that a function was called. */
  readonly #folder: string
  readonly #watched: readonly Watched[]
  readonly #numbers: ReadonlyMap<string, number>

  constructor(folder: string, watched: readonly Watched[]) {
    this.#folder = folder
    this.#watched = [...new Map(watched.map(each => [keyOf(each), each])).values()]
    this.#numbers = new Map(this.#watched.map((each, index) => [keyOf(each), index]))
  }

  /** The edits of each function of a file. */
  notesIn(file: string): Edit[][] {
    return this.#watched.filter(each => each.file === file).map(each => each.calling(this.#noteOf(this.numberOf(each))))
  }

  numberOf(watched: Watched): number {
    return this.#numbers.get(keyOf(watched)) ?? -1
  }

  forget(): void {
    for (const name of readdirSync(this.#folder)) rmSync(join(this.#folder, name))
  }

  /** The numbers of those that were called since. */
  noted(): Set<number> {
    return new Set(readdirSync(this.#folder).map(Number))
  }

  // Pages have no files: note-calls.mjs hears their consoles. A program of another user cannot write here.
  #noteOf(number: number): string {
    const file = JSON.stringify(join(this.#folder, String(number)))
    const inNode = `process.getBuiltinModule('fs').writeFileSync(${file}, '')`
    const note = `globalThis.process?.getBuiltinModule ? ${inNode} : console.debug('afield-called ${number}')`
    return `(globalThis.afieldCalled ??= {})[${number}] ??= (() => { try { ${note} } catch {} return true })()`
  }
}

/** Two functions of a file can have the same name, but not the same place. */
function keyOf({ file, calling }: Watched): string {
  return `${file} ${calling('')[0]?.from}`
}
