import type { AgentHistory } from '../../protocol/sealed/machine-work.ts'
import { ago, drawNumbered } from './session-list.ts'
import type { Style } from './style.ts'

/** Conversations of agents as a person picks one, with its number. */
export function drawHistories(histories: readonly AgentHistory[], now: number, style: Style, columns: number): string[] {
  const entries = histories.map(({ agent, title, folder, at, openIn }) => ({
    title,
    agent,
    folder,
    state: openIn ? 'open now' : ago(now - at)
  }))
  return drawNumbered(entries, style, columns)
}
