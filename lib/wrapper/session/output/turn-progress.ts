import { isDeepStrictEqual } from 'node:util'
import type { StepContent } from '../../../protocol/sealed/messages.ts'
import type { SessionMetadata } from '../../../protocol/sealed/session.ts'
import type { AgentEvent } from '../../agents/agent.ts'

/**
 * Publishes in the metadata what lists show without reading messages: the progress of the turn's plan, as it changes, and how many
 * lines of files the last turn changed, once it ends.
 */
export function publishProgress(
  changeMetadata: (change: (metadata: SessionMetadata) => SessionMetadata) => void
): (event: AgentEvent) => void {
  let progress: SessionMetadata['progress']
  let published: SessionMetadata['changes']
  let turn = { added: 0, removed: 0 }
  return event => {
    switch (event.type) {
      case 'plan': {
        const done = event.entries.filter(({ status }) => status === 'completed').length
        const now = event.entries.length === 0 ? undefined : { done, all: event.entries.length }
        if (isDeepStrictEqual(now, progress)) return
        progress = now
        return changeMetadata(metadata => ({ ...metadata, progress: now }))
      }
      case 'step-ended': {
        if (event.status !== 'completed') return
        const { added, removed } = linesChanged(event.step.content)
        turn = { added: turn.added + added, removed: turn.removed + removed }
        return
      }
      case 'turn-ended': {
        const changes = turn.added + turn.removed === 0 ? undefined : turn
        turn = { added: 0, removed: 0 }
        if (progress === undefined && isDeepStrictEqual(changes, published)) return
        progress = undefined
        published = changes
        return changeMetadata(metadata => ({ ...metadata, progress: undefined, changes }))
      }
    }
  }
}

/** Added and removed lines; a line that only moved counts as neither. */
export function linesChanged(content: readonly StepContent[]): { added: number; removed: number } {
  const sum = { added: 0, removed: 0 }
  for (const each of content) {
    if (each.type !== 'diff') continue
    const counts = new Map<string, number>()
    for (const line of linesOf(each.newText)) counts.set(line, (counts.get(line) ?? 0) + 1)
    for (const line of linesOf(each.oldText ?? '')) counts.set(line, (counts.get(line) ?? 0) - 1)
    for (const count of counts.values()) {
      if (count > 0) sum.added += count
      else sum.removed -= count
    }
  }
  return sum
}

function linesOf(text: string): string[] {
  const lines = text.split('\n')
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines
}
