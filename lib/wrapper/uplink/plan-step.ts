import type { PlanEntry, SessionEvent } from '../../protocol/sealed/messages.ts'

const prefix = 'plan-'

/** A plan as a step of the to-do tool of Claude Code, which existing apps show as a list; they drop whatever kind of event they do not know. */
export function planStep(name: string, entries: readonly PlanEntry[]): { start: SessionEvent; end: SessionEvent } {
  const call = `${prefix}${name}`
  const todos = entries.map(entry => ({ ...entry }))
  const title = 'Plan'
  return {
    start: { t: 'tool-call-start', call, name: 'TodoWrite', title, description: title, args: { todos }, kind: 'plan' },
    end: { t: 'tool-call-end', call, status: 'completed' }
  }
}

export function isPlanStep(event: SessionEvent): boolean {
  return (event.t === 'tool-call-start' || event.t === 'tool-call-end') && event.call.startsWith(prefix)
}
