import type { Terminal } from '../../../lib/wrapper/terminal/terminal.ts'

/** A terminal on which these answers are typed one after the other, and what was shown on it; undefined: nobody is there. */
export function asking(answers: readonly (string | undefined)[]): { terminal: Terminal; shown(): string } {
  const left = [...answers]
  let output = ''
  return {
    shown: () => output,
    terminal: {
      isTTY: true,
      columns: 80,
      rows: 24,
      write(text) {
        output += text
      },
      onResize: () => () => {},
      async ask(question) {
        output += question
        return left.shift()
      }
    }
  }
}
