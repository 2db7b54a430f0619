import { encode } from 'uqr'

/**
 * A QR code in half blocks, two rows of it per line. On a terminal it is black on white whatever the theme, as cameras
 * want it.
 */
export function drawQr(text: string, { isTTY }: { isTTY: boolean }): string[] {
  const { data, size } = encode(text, { ecc: 'L', border: 2 })
  const isDark = (row: number, column: number) => data[row]?.[column] ?? false
  const lines: string[] = []
  for (let row = 0; row < size; row += 2) {
    let line = ''
    for (let column = 0; column < size; column++) line += half(isDark(row, column), isDark(row + 1, column))
    lines.push(isTTY ? `\x1b[30;107m${line}\x1b[0m` : line)
  }
  return lines
}

function half(upper: boolean, lower: boolean): string {
  if (upper) return lower ? '█' : '▀'
  return lower ? '▄' : ' '
}
