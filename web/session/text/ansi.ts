interface AnsiSpan {
  readonly text: string
  /** Space-separated class names, '' for plain text. */
  readonly look: string
}

/**
 * Terminal output as lines of coloured text. Colours map to a few classes; every other escape sequence is dropped, and a carriage return
 * restarts its line, as on a terminal.
 */
export function readAnsi(output: string): AnsiSpan[][] {
  const lines: AnsiSpan[][] = []
  let look: Look = {}
  for (const raw of output.replaceAll('\r\n', '\n').split('\n')) {
    const line: AnsiSpan[] = []
    // Overwritten parts of a progress bar are dropped; its colours continue.
    const rewinds = raw.lastIndexOf('\r', raw.length - 2)
    if (rewinds >= 0) look = lookAfter(raw.slice(0, rewinds), look)
    let rest = raw.slice(rewinds + 1).replaceAll('\r', '')
    while (rest !== '') {
      const at = rest.search(sequence)
      const text = at < 0 ? rest : rest.slice(0, at)
      if (text !== '') line.push({ text: withoutControls(text), look: classesOf(look) })
      if (at < 0) break
      const [whole = ''] = rest.slice(at).match(sequence) ?? []
      look = lookAfter(whole, look)
      rest = rest.slice(at + Math.max(1, whole.length))
    }
    lines.push(line.filter(span => span.text !== ''))
  }
  return lines
}

interface Look {
  color?: string
  bold?: boolean
  dim?: boolean
}

// ECMA-48: ESC and its one-character forms, CSI sequences, and the strings that OSC, DCS, SOS, PM and APC open.
const esc = '\u001b'
const bell = '\u0007'
const csi = `(?:${esc}\\[|\u009b)`
const sequence = new RegExp(
  `${csi}[0-?]*[ -/]*[@-~]|${esc}\\][^${bell}${esc}]*(?:${bell}|${esc}\\\\)?|${esc}[PX^_][^${esc}]*(?:${esc}\\\\)?|${esc}(?:[ -/]*[0-~])?`
)
const coloring = new RegExp(`${csi}([\\d;:]*)m`, 'g')
const controls = /(?!\t)\p{Cc}/gu

function withoutControls(text: string): string {
  return text.replace(controls, '')
}

const colors = ['', 'no', 'ok', 'warn', 'fn', 'key', 'fn', '']

function lookAfter(escapes: string, before: Look): Look {
  let look = before
  for (const [, codes = ''] of escapes.matchAll(coloring)) look = withCodes(look, codes.split(/[;:]/).map(Number))
  return look
}

function withCodes(before: Look, codes: number[]): Look {
  let look = { ...before }
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0
    if (code === 0) look = {}
    else if (code === 1) look.bold = true
    else if (code === 2) look.dim = true
    else if (code === 22) look = { ...look, bold: false, dim: false }
    else if (code >= 30 && code <= 37) look.color = colors[code - 30] ?? ''
    else if (code === 39) look.color = ''
    else if (code === 90) look.dim = true
    else if (code >= 91 && code <= 97) look.color = colors[code - 90] ?? ''
    else if (code === 38 || code === 48) {
      const palette = codes[i + 1] === 5 ? codes[i + 2] : undefined
      if (code === 38) look.color = palette !== undefined && palette < 16 ? (colors[palette % 8] ?? '') : ''
      i += codes[i + 1] === 5 ? 2 : 4
    }
  }
  return look
}

function classesOf({ color, bold, dim }: Look): string {
  return [color === undefined || color === '' ? '' : `a-${color}`, bold === true ? 'a-bold' : '', dim === true ? 'a-dim' : '']
    .filter(name => name !== '')
    .join(' ')
}
