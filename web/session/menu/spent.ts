import type { Transcript } from '../../model/transcript/transcript.ts'
import { locale } from '../../words/language.ts'
import { lists } from '../../words/lists.ts'

/** What the last step used. */
export function spent({ usage }: Pick<Transcript, 'usage'>): { tokens: string | undefined; cost: string | undefined } {
  if (usage === undefined) return { tokens: undefined, cost: undefined }
  const whole = new Intl.NumberFormat(locale())
  const read = usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0)
  return { tokens: lists.tokens(whole.format(read), whole.format(usage.output_tokens)), cost: usage.cost && costOf(usage.cost) }
}

function costOf({ amount, currency }: { amount: number; currency: string }): string {
  try {
    return new Intl.NumberFormat(locale(), { style: 'currency', currency }).format(amount)
  } catch {
    // An agent may name its own currency.
    return `${amount} ${currency}`
  }
}
