import type { StepContent } from '../../../lib/protocol/sealed/messages.ts'

/** Only if the output states it in the words of a known agent; a merely likely number is not shown. */
export function exitCodeOf(content: readonly StepContent[]): number | undefined {
  const text = content.flatMap(each => (each.type === 'text' ? [each.text] : [])).join('\n')
  const match = /(?:^|\n)\s*(?:exit(?:ed)?(?: with)?(?: code)?|exit[_ ]code)[:=\s]+(-?\d{1,3})\b/i.exec(text.slice(-2000))
  return match?.[1] === undefined ? undefined : Number(match[1])
}
