import { pathToFileURL } from 'node:url'
import { Script } from 'node:vm'

/** One file of the bundled program. */
export interface Piece {
  text: string
  /** V8's code cache of an earlier run: code that ran then is not compiled again. */
  compiled?: Uint8Array | undefined
}

interface PiecesOptions {
  read(name: string): Piece
  /** Loads modules that are not pieces. */
  require(name: string): unknown
  /** Where the program is. */
  filename: string
  onScript?: ((name: string, script: Script) => void) | undefined
}

// The names that a bundled file uses; `bundleUrl` stands for `import.meta.url`.
const parameters = ['require', 'module', 'exports', '__filename', 'bundleUrl']

/** The text of a piece, from a CommonJS file. */
export function pieceOf(file: string): string {
  return `(function(${parameters}){${file}\n})`
}

/**
 * Runs a program starting with the piece of that name; each other one is loaded when it is first required. So a command uses
 * the time and the memory of its own pieces, not those of the whole program.
 */
export function runPieces(first: string, { read, require, filename, onScript }: PiecesOptions): unknown {
  const url = pathToFileURL(filename).href
  const loaded = new Map<string, { exports: unknown }>()

  const load = (name: string): unknown => {
    const known = loaded.get(name)
    if (known) return known.exports
    const module = { exports: {} as unknown }
    // Before it runs: pieces may require each other.
    loaded.set(name, module)
    const { text, compiled } = read(name)
    const script = new Script(text, { filename: name, cachedData: compiled })
    onScript?.(name, script)
    script.runInThisContext()(requireAny, module, module.exports, filename, url)
    return module.exports
  }
  const requireAny = (name: string) => (name.startsWith('./') ? load(name.slice(2)) : require(name))

  return load(first)
}
