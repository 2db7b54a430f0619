import type { SessionEvent } from '../../lib/protocol/sealed/messages.ts'

export interface Verdict {
  said: number
  asked: number
  lost: number
  doubled: number
  /** Said after something that it came before. */
  misplaced: number
  /** Messages of the phone that the agent did not answer exactly once and in order. */
  unanswered: number
}

/** Compares what reached the phone with what an agent said, which was `line 1` to `line <said>`, and its answers `heard <n>`. */
export function judge({ events }: { events(): readonly SessionEvent[] }, { said, asked }: { said: number; asked: number }): Verdict {
  const texts = textsOf(events())
  const lines = numbersAfter('line', texts)
  const distinct = new Set(lines)
  const answers = numbersAfter('heard', texts)
  return {
    said,
    asked,
    lost: said - distinct.size,
    doubled: lines.length - distinct.size,
    misplaced: lines.filter((number, index) => number < (lines[index - 1] ?? 0)).length,
    unanswered: Array.from({ length: asked }, (_, index) => index + 1).filter((number, index) => answers[index] !== number).length
  }
}

/** The highest of the agent's lines that has come: all before it must have, too. */
export function lastHeard({ events }: { events(): readonly SessionEvent[] }): number {
  return Math.max(0, ...numbersAfter('line', textsOf(events())))
}

export function isKept({ lost, doubled, misplaced, unanswered }: Verdict): boolean {
  return lost + doubled + misplaced + unanswered === 0
}

function textsOf(events: readonly SessionEvent[]): string[] {
  return events.flatMap(event => (event.t === 'text' ? event.text : []))
}

function numbersAfter(word: string, texts: readonly string[]): number[] {
  return texts.flatMap(text => {
    const [, said, number] = /^(\w+) (\d+)$/.exec(text) ?? []
    return said === word ? Number(number) : []
  })
}
