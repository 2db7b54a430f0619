import type { AgentEvent } from '../../agent.ts'
import type { Row } from './rows.ts'

/** What a conversation is called: as its person named it, else as Claude Code does. Both are written down again and again. */
export function createTitles(emit: (event: AgentEvent) => void): (row: Extract<Row, { type: 'title' }>) => void {
  let told = ''
  let isNamed = false
  return ({ title, byPerson }) => {
    if (isNamed && !byPerson) return
    isNamed ||= byPerson
    if (title === told) return
    told = title
    emit({ type: 'title', title })
  }
}
