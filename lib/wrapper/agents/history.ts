import type { AgentEvent } from './agent.ts'

const mostTurns = 20

/** For a past that is sent once: each turn is closed, however the agent recorded it. */
export function lastTurns(events: readonly AgentEvent[]): AgentEvent[] {
  const turns: AgentEvent[][] = []
  for (const event of events) {
    if (event.type === 'prompted') turns.push([event])
    // Anything before the first prompt belongs to no turn.
    else turns.at(-1)?.push(event)
  }
  return turns
    .slice(-mostTurns)
    .flatMap(turn => (turn.at(-1)?.type === 'turn-ended' ? turn : [...turn, { type: 'turn-ended', reason: 'done' }]))
}
