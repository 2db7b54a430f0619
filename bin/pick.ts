import { type Style, styleFor } from '../lib/wrapper/terminal/style.ts'
import { type Terminal, tell } from '../lib/wrapper/terminal/terminal.ts'

export interface Picking<Entry> {
  terminal: Terminal
  env: Readonly<Record<string, string | undefined>>
  /** The likeliest first. */
  entries: readonly Entry[]
  draw(entries: readonly Entry[], style: Style, columns: number): string[]
  /** Those that have the words. */
  search(words: readonly string[]): readonly Entry[] | Promise<readonly Entry[]>
}

/** Lets a person pick by number, or search with words first. Undefined when they leave; `nobody` when there is nobody to ask. */
export async function pick<Entry>(picking: Picking<Entry>): Promise<Entry | 'nobody' | undefined> {
  const { terminal, search } = picking
  let shown = show(picking, picking.entries)
  for (;;) {
    const range = shown.length === 1 ? '1' : `1 to ${shown.length}`
    const answer = (await terminal.ask(`Which one? ${range}, words to search for, or nothing to leave: `))?.trim()
    if (answer === undefined) return 'nobody'
    if (answer === '') return undefined
    const picked = shown[Number(answer) - 1]
    if (picked !== undefined) return picked
    const found = /^\d+$/.test(answer) ? [] : await search(answer.split(/\s+/))
    if (found.length > 0) shown = show(picking, found)
    else tell(terminal, `Nothing here is called ${answer}.`)
  }
}

/** As many as fit on the screen with the question below them, so that the first can be seen. Returns these. */
function show<Entry>({ terminal, env, draw }: Picking<Entry>, entries: readonly Entry[]): readonly Entry[] {
  const fitting = Math.floor((terminal.rows - linesAround) / linesPerEntry)
  const shown = entries.slice(0, terminal.isTTY ? Math.min(mostShown, Math.max(fewestShown, fitting)) : mostShown)
  const style = styleFor(terminal, env)
  const more = entries.length - shown.length
  const lines = [...draw(shown, style, terminal.columns), ...(more > 0 ? [style.dim(`  and ${more} more`)] : [])]
  terminal.write(`\n${lines.join('\n')}\n\n`)
  return shown
}

const linesPerEntry = 2
// Three empty or short ones, the question, and that the command was typed.
const linesAround = 5
const fewestShown = 3
const mostShown = 20
