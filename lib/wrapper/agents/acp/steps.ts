import type { StepContent, StepKind, StepStatus } from '../../../protocol/sealed/messages.ts'
import type { Step } from '../agent.ts'
import { diffContent, isRecord, textContent } from '../step-content.ts'
import { type StepUpdate, textOf } from './messages.ts'

/** The step merged with an update; fields that the update omits stay. */
export function mergeStep(step: Step | undefined, update: StepUpdate): Step {
  const kind = update.kind ? stepKind(update.kind) : (step?.kind ?? 'other')
  const title = update.title || step?.title || update.name || 'Step'
  return {
    call: update.toolCallId,
    kind,
    title,
    name: update.name || update._meta?.claudeCode?.toolName || step?.name || nameOfKind[kind],
    input: isRecord(update.rawInput) && Object.keys(update.rawInput).length > 0 ? update.rawInput : (step?.input ?? {}),
    locations: update.locations?.map(({ path }) => path) ?? step?.locations ?? [],
    content: update.content ? readContent(update.content) : withOutput(step?.content ?? [], update.rawOutput)
  }
}

/** How the step ended, or undefined while it runs. */
export function endOf(update: StepUpdate): StepStatus | undefined {
  if (update.status === 'completed' || update.status === 'failed') return update.status
  return update.status === 'cancelled' ? 'cancelled' : undefined
}

const kinds: ReadonlySet<string> = new Set<StepKind>([
  'read',
  'search',
  'edit',
  'delete',
  'move',
  'execute',
  'fetch',
  'think',
  'plan',
  'other'
])

function isStepKind(kind: string): kind is StepKind {
  return kinds.has(kind)
}

function stepKind(kind: string): StepKind {
  if (kind === 'switch_mode') return 'plan'
  return isStepKind(kind) ? kind : 'other'
}

// The names for which existing apps have their own views.
const nameOfKind: Readonly<Record<StepKind, string>> = {
  read: 'Read',
  search: 'Grep',
  edit: 'Edit',
  delete: 'Delete',
  move: 'Move',
  execute: 'Bash',
  fetch: 'WebFetch',
  think: 'Think',
  plan: 'ExitPlanMode',
  other: 'Tool'
}

function readContent(items: NonNullable<StepUpdate['content']>): StepContent[] {
  return items.flatMap((item): StepContent[] => {
    if (!item) return []
    if (item.type === 'content') return [textContent(textOf(item.content))]
    const { path, oldText, newText } = item
    return [diffContent(path, oldText ?? null, newText)]
  })
}

// Agents that put the result only into rawOutput usually put text there.
function withOutput(content: StepContent[], output: unknown): StepContent[] {
  if (typeof output !== 'string' || output.trim() === '' || content.some(({ type }) => type === 'text')) return content
  return [...content, textContent(output)]
}
