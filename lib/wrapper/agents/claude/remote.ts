import type { AgentEvent, HistoryPosition } from '../agent.ts'
import { goalIn, lastGoalIn } from './transcript/goals.ts'
import { newLines } from './transcript/transcript.ts'

const lookEveryMs = 250

/**
 * The goals of a Claude Code without a screen, which its adapter does not report: they are read from its
 * transcript, from this position on. Returns a function that stops it.
 */
export function tellGoals(place: HistoryPosition | undefined, tell: (event: AgentEvent) => void): () => void {
  if (!place) return () => {}
  const last = lastGoalIn(place.file)
  if (last) tell({ type: 'goal', goal: last })
  let reading = place
  const looking = setInterval(() => {
    const { lines, next } = newLines(reading)
    reading = next
    for (const goal of lines.flatMap(line => goalIn(line) ?? [])) tell({ type: 'goal', goal })
  }, lookEveryMs)
  return () => clearInterval(looking)
}
