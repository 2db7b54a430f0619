import type { AgentEvent } from './agent.ts'

const mostTurns = 20

/** Of a past that is told once: each turn in one that has ended, however the agent wrote it down. */
export function lastTurns(events: readonly AgentEvent[]): AgentEvent[] {
  const turns: AgentEvent[][] = []
  for (const event of events) {
    if (event.type === 'prompted') turns.push([event])
    // What came before the first prompt belongs to none.
    else turns.at(-1)?.push(event)
  }
  return turns
    .slice(-mostTurns)
    .flatMap(turn => (turn.at(-1)?.type === 'turn-ended' ? turn : [...turn, { type: 'turn-ended', reason: 'done' }]))
}
