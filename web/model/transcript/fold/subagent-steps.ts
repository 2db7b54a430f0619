import type { Item, Place, Step } from '../items.ts'
import type { TranscriptEvent } from './events.ts'

/** The subagents of a session among its items. */
export interface SubagentSteps {
  items: Item[]
  /** The index of a subagent's step in `items`, by the subagent's id. */
  stepBySubagent: Map<string, number>
}

/** The events of a subagent stay inside its own step. */
export function foldInner(fold: SubagentSteps, event: TranscriptEvent, place: Place, subagent: string): void {
  const index = fold.stepBySubagent.get(subagent)
  if (index === undefined) {
    if (event.type === 'subagent-stopped') return
    fold.stepBySubagent.set(subagent, fold.items.length)
    fold.items.push(subagentStep(event, place, subagent))
    if (event.type === 'subagent-started') return
    foldInner(fold, event, place, subagent)
    return
  }
  const step = fold.items[index]
  if (step?.type !== 'step') return
  if (event.type === 'subagent-stopped') fold.items[index] = { ...step, state: 'ok', endedAt: place.at }
  if (event.type === 'step-started') {
    const inner = step.inner ?? { steps: 0, last: [] }
    fold.items[index] = { ...step, inner: { steps: inner.steps + 1, last: [...inner.last, event.title].slice(-3) } }
  }
}

function subagentStep(event: TranscriptEvent, place: Place, subagent: string): Step {
  const title = event.type === 'subagent-started' ? (event.title ?? '') : ''
  return {
    type: 'step',
    ...place,
    call: subagent,
    kind: 'agent',
    name: '',
    title,
    description: '',
    args: {},
    locations: [],
    content: [],
    state: 'running',
    endedAt: undefined,
    inner: { steps: 0, last: [] }
  }
}
