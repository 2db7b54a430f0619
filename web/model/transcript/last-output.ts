import type { Item } from './items.ts'
import type { Transcript } from './transcript.ts'

/** The last output of an agent: of its command, or its text. */
interface LastOutput {
  readonly text: string
  readonly at: number
}

export function lastOutput({ items, partials }: Pick<Transcript, 'items' | 'partials'>): LastOutput | undefined {
  const growing = partials.at(-1)
  if (growing !== undefined && growing.text.trim() !== '') return endOf(growing.text, growing.at)
  for (const item of items.toReversed()) {
    const text = textOf(item).trimEnd()
    if (text !== '') return endOf(text, item.type === 'step' ? (item.endedAt ?? item.at) : item.at)
  }
  return undefined
}

function textOf(item: Item): string {
  switch (item.type) {
    case 'prose':
    case 'thinking':
    case 'note':
      return item.text
    case 'step':
      return item.content.flatMap(each => (each.type === 'text' ? [each.text] : [])).join('\n')
    default:
      return ''
  }
}

function endOf(text: string, at: number): LastOutput {
  return { text: text.trimEnd().split('\n').slice(-lines).join('\n'), at }
}

const lines = 6
