import type { StepContent } from '../../../lib/protocol/sealed/messages.ts'

/** Only where the output says so in the words of the agents we know; a number that is merely likely is not shown. */
export function exitCodeOf(content: readonly StepContent[]): number | undefined {
  const text = content.flatMap(each => (each.type === 'text' ? [each.text] : [])).join('\n')
  const match = /(?:^|\n)\s*(?:exit(?:ed)?(?: with)?(?: code)?|exit[_ ]code)[:=\s]+(-?\d{1,3})\b/i.exec(text.slice(-2000))
  return match?.[1] === undefined ? undefined : Number(match[1])
}

/** What a step got from the web, as far as its agent tells. */
export interface Fetched {
  readonly status: number
  readonly bytes: number
}

/** As the wrapper of Claude Code writes it before the text. */
export function fetchedOf(content: readonly StepContent[]): Fetched | undefined {
  const text = content.find(each => each.type === 'text')?.text
  const [, status, bytes] = /^HTTP (\d{3}), (\d{1,12}) bytes$/m.exec(text?.slice(0, 40) ?? '') ?? []
  return status === undefined || bytes === undefined ? undefined : { status: Number(status), bytes: Number(bytes) }
}
