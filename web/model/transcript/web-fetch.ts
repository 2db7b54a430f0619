import type { StepContent } from '../../../lib/protocol/sealed/messages.ts'

/** The result of a web request of a step, as far as its agent reports it. */
interface Fetched {
  readonly status: number
  readonly bytes: number
}

/** As Claude Code's wrapper writes it before the text. */
export function fetchedOf(content: readonly StepContent[]): Fetched | undefined {
  const text = content.find(each => each.type === 'text')?.text
  const [, status, bytes] = /^HTTP (\d{3}), (\d{1,12}) bytes$/m.exec(text?.slice(0, 40) ?? '') ?? []
  return status === undefined || bytes === undefined ? undefined : { status: Number(status), bytes: Number(bytes) }
}
