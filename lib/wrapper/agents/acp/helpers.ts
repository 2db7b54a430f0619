import type { AgentEvent } from '../agent.ts'

/**
 * The helpers that an agent has at work. They come in two ways: as sessions of their own, or by what they do naming the step that
 * called them; the id is that of the session or step.
 */
export function createHelpers(emit: (event: AgentEvent) => void) {
  const known = new Set<string>()
  const working = new Set<string>()

  const stop = (subagent: string) => {
    if (working.delete(subagent)) emit({ type: 'subagent-stopped', subagent })
  }

  return {
    has: (subagent: string) => known.has(subagent),
    start(subagent: string, title: string | undefined): void {
      if (working.has(subagent)) return
      known.add(subagent)
      working.add(subagent)
      emit({ type: 'subagent-started', subagent, title })
    },
    stop,
    stopAll(): void {
      for (const subagent of [...working]) stop(subagent)
    }
  }
}
