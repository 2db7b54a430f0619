/** Modes that a program has turned on in a terminal and not off again: alternate screen, bracketed paste, other key encodings. */
interface LeftModes {
  take(output: Uint8Array | string): void
  /** The sequences that turn them off; empty if the program has cleaned up. */
  undo(): string
}

// The cursor is shown, and lines wrap, unless a program turns that off.
const onByDefault = new Set([7, 25])
const longestSequence = 40

export function followModes(): LeftModes {
  const modes = new Map<number, boolean>()
  let keyboards = 0
  let rest = ''
  const decoder = new TextDecoder('latin1')

  return {
    take(output) {
      const text = rest + (typeof output === 'string' ? output : decoder.decode(output))
      let read = 0
      for (const { 0: whole, 1: numbers, 2: way, 3: stack, 4: count, index } of text.matchAll(sequences)) {
        read = index + whole.length
        for (const number of numbers?.split(';') ?? []) modes.set(Number(number), way === 'h')
        if (stack === '>') keyboards++
        if (stack === '<') keyboards = Math.max(0, keyboards - Number(count || 1))
      }
      // A sequence may be split over two chunks.
      rest = text.slice(Math.max(read, text.length - longestSequence))
    },
    undo() {
      const left = [...modes].filter(([number, isOn]) => isOn !== onByDefault.has(number))
      const undone = left.map(([number]) => `\x1b[?${number}${onByDefault.has(number) ? 'h' : 'l'}`).join('')
      const popped = '\x1b[<u'.repeat(keyboards)
      modes.clear()
      keyboards = 0
      return popped + undone
    }
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const sequences = /\x1b\[(?:\?([\d;]+)([hl])|([<>])(\d*)u)/g
