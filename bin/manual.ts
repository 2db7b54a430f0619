import { helpCommand, helpPages } from '../lib/help-pages.ts'
import { type Style, wrapped } from '../lib/wrapper/terminal/style.ts'

interface Paper {
  style: Pick<Style, 'bold' | 'dim'>
  columns: number
}

/**
 * A page of `docs/` as text for a terminal: sentences wrapped, tables as lists, and links to other pages as the commands that show
 * these. What is meant to be copied stays as it is.
 */
export function manualText(markdown: string, { style, columns }: Paper): string {
  const out: string[] = []
  let isCode = false
  let header: string[] | undefined
  for (const line of united(markdown.trimEnd().split('\n'))) {
    const row = isCode ? undefined : cellsOf(line)
    if (!row) header = undefined
    if (/^\s*```/.test(line)) isCode = !isCode
    else if (isCode) out.push(`    ${line}`)
    else if (/^ {4}/.test(line) || line === '') out.push(line)
    else if (/^#+ /.test(line)) out.push(style.bold(line.replace(/^#+ /, '')))
    else if (!row) out.push(...paragraph(line, { style, columns }))
    else if (!header) header = row
    else if (!row.every(cell => /^:?-+:?$/.test(cell))) out.push(...item(header, row, { style, columns }))
  }
  return `${out.join('\n')}\n`
}

/** With each paragraph and each item on one line. */
function united(lines: readonly string[]): string[] {
  const out: string[] = []
  let isCode = false
  let isProse = false
  for (const line of lines) {
    if (/^\s*```/.test(line)) isCode = !isCode
    const isText = !isCode && /^ {0,3}\S/.test(line) && !/^(#+ |\||```)/.test(line)
    if (isText && isProse && !/^\s*(- |\d+\. )/.test(line)) out.push(`${out.pop()} ${line.trim()}`)
    else out.push(line)
    isProse = isText
  }
  return out
}

function cellsOf(line: string): string[] | undefined {
  if (!/^\|.*\|$/.test(line)) return undefined
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll('\\|', '|'))
}

/** A row of a table: its first cell, and each other one with the title of its column if there are several. */
function item(header: readonly string[], [first = '', ...others]: readonly string[], paper: Paper): string[] {
  const filled = others.flatMap((cell, index) => (cell === '' ? [] : [{ cell, title: header[index + 1] ?? '' }]))
  const [only] = filled
  if (others.length === 1 && only) return paragraph(`- ${first}: ${only.cell}`, paper)
  const rest = filled.flatMap(({ cell, title }) => paragraph(`  ${title === '' ? '' : `${title}: `}${cell}`, paper))
  return [...paragraph(`- ${first}`, paper), ...rest]
}

/** The lines of an item stand below its first word. */
function paragraph(line: string, { style, columns }: Paper): string[] {
  const [indent = ''] = /^\s*(?:- |\d+\. |> )?/.exec(line) ?? []
  const lines = wrapped(withoutLinks(line.slice(indent.length)), columns - indent.length)
  return lines.map((text, row) => (row === 0 ? indent : ' '.repeat(indent.length)) + emphasized(text, style))
}

function withoutLinks(text: string): string {
  return text.replace(/!?\[([^\]]+)\]\(([^)\s]+)\)/g, (_, words: string, target: string) => {
    if (/^https?:/.test(target)) return `${words} (${target})`
    const page = helpPages.find(name => target.replace(/#.*/, '') === `${name}.md`)
    if (page === undefined) return words
    return words === `${page}.md` ? `\`${helpCommand(page)}\`` : `${words} (\`${helpCommand(page)}\`)`
  })
}

// Emphasis that a line break divides stays as it was written.
function emphasized(text: string, { bold }: Paper['style']): string {
  return text.replace(/\*\*([^*]+)\*\*/g, (_, words: string) => bold(words))
}
