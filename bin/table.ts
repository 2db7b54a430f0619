import { plain, type Style, widthOf, wrapped } from '../lib/wrapper/terminal/style.ts'

/**
 * Columns as wide as their widest text, under a header line; on a screen too narrow for that, each row as lines of name and text.
 * The input may come from strangers.
 */
export function drawTable(names: readonly string[], rows: readonly (readonly string[])[], style: Style, columns: number): string {
  const cells = rows.map(row => row.map(plain))
  const widths = names.map((name, column) => Math.max(...[name, ...cells.map(row => row[column] ?? '')].map(widthOf)))
  const width = widths.reduce((sum, width) => sum + 2 + width, 0)
  if (width > columns) return cells.map(row => drawRow(names, row, style, columns)).join('\n')
  const line = (row: readonly string[]) => row.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell))).join('  ')
  return [style.dim(line(names).trimEnd()), ...cells.map(row => line(row).trimEnd())].map(text => `  ${text}\n`).join('')
}

function drawRow(names: readonly string[], row: readonly string[], style: Style, columns: number): string {
  const width = Math.max(...names.map(widthOf))
  const lines = row.flatMap((cell, column) =>
    wrapped(cell, columns - width - 4).map((text, index) => [index === 0 ? (names[column] ?? '') : '', text] as const)
  )
  return lines.map(([name, text]) => `  ${style.dim(name.padEnd(width))}  ${text}`.trimEnd().concat('\n')).join('')
}

/** A time to the minute, in the time zone of this computer. */
export function shownTime(at: number | null): string {
  if (at === null) return 'never'
  const date = new Date(at)
  const two = (number: number) => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
}

export function shownBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB']
  let [amount, unit] = [bytes, 0]
  while (amount >= 1024 && unit < units.length - 1) {
    amount /= 1024
    unit += 1
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`
}

/** Roughly: seconds, minutes or hours. */
export function shownDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
