import type { ComponentChildren } from 'preact'
import type { Mark } from '../../../lib/protocol/sealed/decisions/risk.ts'
import { escaped } from '../../ui/escaped.tsx'
import { session as words } from '../../words/session.ts'

/** The whole command to decide on: never truncated, nothing in it hidden, the risky words highlighted. */
export function Command({ text, marks, isLarge = false }: { text: string; marks: readonly Mark[]; isLarge?: boolean }) {
  return (
    <section class={`cmd ${isLarge ? 'lg' : ''}`} aria-label={words.wholeCommand}>
      <code>{marked(text, marks)}</code>
    </section>
  )
}

function marked(text: string, marks: readonly Mark[]): ComponentChildren {
  const out: ComponentChildren[] = []
  let at = 0
  for (const { from, to } of marks) {
    out.push(programs(text.slice(at, from), at === 0), <mark class="risk">{escaped(text.slice(from, to))}</mark>)
    at = to
  }
  out.push(programs(text.slice(at), at === 0))
  return out
}

// The program of each part of a command stands out, as in a terminal.
function programs(text: string, isStart: boolean): ComponentChildren {
  const pattern = isStart ? /^\s*[\w./~-]+|(?<=(?:&&|\|\||[;|\n])\s*)[\w./~-]+/g : /(?<=(?:&&|\|\||[;|\n])\s*)[\w./~-]+/g
  const out: ComponentChildren[] = []
  let at = 0
  for (const match of text.matchAll(pattern)) {
    out.push(escaped(text.slice(at, match.index)), <b class="cmd-p">{escaped(match[0])}</b>)
    at = match.index + match[0].length
  }
  out.push(escaped(text.slice(at)))
  return out
}
