import { folded, type Style, styleFor } from '../lib/wrapper/terminal/style.ts'
import { type Terminal, tell } from '../lib/wrapper/terminal/terminal.ts'

export interface Picking<Entry> {
  terminal: Terminal
  env: Readonly<Record<string, string | undefined>>
  /** Most likely first. */
  entries: readonly Entry[]
  draw(entries: readonly Entry[], style: Style, columns: number): string[]
  /** The number shown; by default the position in the list. */
  numberOf?(entry: Entry): number
  /** Those that match the words. */
  search(words: readonly string[]): readonly Entry[] | Promise<readonly Entry[]>
}

/** Lets a person pick by number, or search with words first. Undefined when they cancel; `nobody` without a terminal to ask on. */
export async function pick<Entry>(picking: Picking<Entry>): Promise<Entry | 'nobody' | undefined> {
  const { terminal, search, numberOf } = picking
  let shown = picking.entries
  let count = show(picking, shown)
  const numbersOf = (entries: readonly Entry[]) => entries.map((entry, index) => String(numberOf?.(entry) ?? index + 1))
  for (;;) {
    const answer = (await terminal.ask(questionFor(numbersOf(shown.slice(0, count)))))?.trim()
    if (answer === undefined) return 'nobody'
    if (answer === '') return undefined
    // Including entries that are not shown.
    const picked = shown[numbersOf(shown).indexOf(answer)]
    if (picked !== undefined) return picked
    const found = /^\d+$/.test(answer) ? [] : await search(answer.split(/\s+/))
    if (found.length > 0) {
      shown = found
      count = show(picking, found)
    } else tell(terminal, /^\d+$/.test(answer) ? `There is no number ${answer} in the list.` : `Nothing matches ${answer}.`)
  }
}

function questionFor(numbers: readonly string[]): string {
  return `Which one? ${rangeOf(numbers)}, words to search for, or Enter to cancel: `
}

function rangeOf(numbers: readonly string[]): string {
  const [first = '', last = first] = [numbers[0], numbers.at(-1)]
  if (first === last) return first
  const isWhole = Number(last) - Number(first) === numbers.length - 1
  return isWhole ? `${first} to ${last}` : 'a number from the list'
}

/** As many as fit on the screen above the question, so that the first is visible. Returns how many. */
function show<Entry>({ terminal, env, draw }: Picking<Entry>, entries: readonly Entry[]): number {
  const style = styleFor(terminal, env)
  const linesOf = (count: number) => draw(entries.slice(0, count), style, terminal.columns)
  const room = terminal.rows - linesAround - folded(questionFor(['10', '20']), terminal.columns).split('\n').length
  let count = Math.min(mostShown, entries.length)
  while (terminal.isTTY && count > fewestShown && linesOf(count).length > room) count -= 1
  const more = entries.length - count
  terminal.write(`\n${[...linesOf(count), ...(more > 0 ? [style.dim(`  and ${more} more`)] : [])].join('\n')}\n\n`)
  return count
}

// Two blank lines, the number of remaining ones, and the typed command.
const linesAround = 4
const fewestShown = 3
const mostShown = 20
