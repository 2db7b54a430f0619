import { encode } from 'uqr'

/**
 * A QR code in half blocks, two rows per line. On a terminal it is black on white in any theme, as cameras
 * need it.
 */
export function drawQr(text: string, { isTTY }: { isTTY: boolean }): string[] {
  const wide = encode(text, { ecc: 'L', border: 2 })
  // With a margin of one, a code of 41 modules and a line below it still fit on 24 lines.
  const { data, size } = wide.size > usualSize ? encode(text, { ecc: 'L', border: 1 }) : wide
  const isDark = (row: number, column: number) => data[row]?.[column] ?? false
  const lines: string[] = []
  for (let row = 0; row < size; row += 2) {
    let line = ''
    for (let column = 0; column < size; column++) line += half(isDark(row, column), isDark(row + 1, column))
    lines.push(isTTY ? `\x1b[30;107m${line}\x1b[0m` : line)
  }
  return lines
}

const usualSize = 41

/** Columns of a drawn code, without the colours around its lines. */
export function codeWidth([line = '']: readonly string[]): number {
  return [...line].filter(letter => ' ▀▄█'.includes(letter)).length
}

function half(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀'
  return lower ? '▄' : ' '
}
