import type { StepContent } from '../../../lib/protocol/sealed/messages.ts'

/** What a step got from the web, as far as its agent tells. */
interface Fetched {
  readonly status: number
  readonly bytes: number
}

/** As the wrapper of Claude Code writes it before the text. */
export function fetchedOf(content: readonly StepContent[]): Fetched | undefined {
  const text = content.find(each => each.type === 'text')?.text
  const [, status, bytes] = /^HTTP (\d{3}), (\d{1,12}) bytes$/m.exec(text?.slice(0, 40) ?? '') ?? []
  return status === undefined || bytes === undefined ? undefined : { status: Number(status), bytes: Number(bytes) }
}
