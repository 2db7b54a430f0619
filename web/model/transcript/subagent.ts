import { foldInto, freshFold } from './fold/fold.ts'
import type { Item, Step } from './items.ts'
import type { KnownMessage } from './message.ts'

/** The events of one subagent, as its own transcript. `step`: its index in the session's. */
export function itemsOfSubagent(messages: readonly KnownMessage[], subagent: string, step: Step | undefined): readonly Item[] {
  const fold = freshFold()
  for (const message of messages) foldInto(fold, message, subagent)
  // A stopped turn does not report the steps within.
  if (step === undefined || step.state === 'running') return fold.items
  return fold.items.map(item =>
    item.type === 'step' && item.state === 'running' ? { ...item, state: 'done' as const, endedAt: step.endedAt } : item
  )
}
