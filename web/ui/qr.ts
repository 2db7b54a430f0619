import { encode } from 'uqr'

export interface QrDrawing {
  viewBox: string
  path: string
}

/** A QR code as one path, one unit per module, with the quiet zone that readers need. */
export function drawQr(text: string): QrDrawing {
  const { data, size } = encode(text, { border: 3 })
  const path = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('')
  return { viewBox: `0 0 ${size} ${size}`, path }
}
