import { type Style, styleFor } from '../lib/wrapper/terminal/style.ts'
import { type Terminal, tell } from '../lib/wrapper/terminal/terminal.ts'

export interface Picking<Entry> {
  terminal: Terminal
  env: Readonly<Record<string, string | undefined>>
  /** The likeliest first. */
  entries: readonly Entry[]
  draw(entries: readonly Entry[], style: Style, columns: number): string[]
  /** As it is drawn; else its place among those shown. */
  numberOf?(entry: Entry): number
  /** Those that have the words. */
  search(words: readonly string[]): readonly Entry[] | Promise<readonly Entry[]>
}

/** Lets a person pick by number, or search with words first. Undefined when they leave; `nobody` when there is nobody to ask. */
export async function pick<Entry>(picking: Picking<Entry>): Promise<Entry | 'nobody' | undefined> {
  const { terminal, search, numberOf } = picking
  let shown = show(picking, picking.entries)
  for (;;) {
    const numbers = shown.map((entry, index) => String(numberOf?.(entry) ?? index + 1))
    const answer = (await terminal.ask(`Which one? ${rangeOf(numbers)}, words to search for, or nothing to leave: `))?.trim()
    if (answer === undefined) return 'nobody'
    if (answer === '') return undefined
    const picked = shown[numbers.indexOf(answer)]
    if (picked !== undefined) return picked
    const found = /^\d+$/.test(answer) ? [] : await search(answer.split(/\s+/))
    if (found.length > 0) shown = show(picking, found)
    else tell(terminal, `Nothing here is called ${answer}.`)
  }
}

function rangeOf(numbers: readonly string[]): string {
  const [first = '', last = first] = [numbers[0], numbers.at(-1)]
  if (first === last) return first
  const isWhole = Number(last) - Number(first) === numbers.length - 1
  return isWhole ? `${first} to ${last}` : 'its number'
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
