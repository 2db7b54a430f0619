import type { AgentEvent, Untold } from '../agent.ts'
import { lastTurns } from '../last-turns.ts'
import { textOf } from './blocks.ts'
import type { Update } from './messages.ts'
import { createTurns } from './turns.ts'

const tellable = new Set<AgentEvent['type']>(['step-started', 'step-ended', 'subagent-started', 'subagent-stopped', 'plan'])

/** Listens to an agent that repeats a conversation which was begun without us, so that its last turns can be told once. */
export function listenToPast(conversation: string) {
  const events: AgentEvent[] = []
  const turns = createTurns(event => {
    // The same names each time it is read: what an earlier try has told is not told again.
    if (event.type === 'text') events.push({ ...event, row: rowOf(events.length) })
    else if (tellable.has(event.type)) events.push(event)
  })
  const rowOf = (index: number) => `${conversation} ${index}`
  let prompt: string | undefined
  let messages = 0

  const beginTurn = () => {
    if (prompt === undefined) return
    events.push({ type: 'prompted', text: prompt, isOurs: false, row: rowOf(events.length) })
    turns.begin()
    prompt = undefined
  }
  const endTurn = () => {
    beginTurn()
    turns.end({ reason: 'done' })
  }

  return {
    take(update: Update): void {
      if (update.sessionUpdate === 'user_message_chunk') {
        if (prompt === undefined) {
          endTurn()
          messages += 1
        }
        prompt = `${prompt ?? ''}${update.content ? textOf(update.content) : ''}`
        return
      }
      beginTurn()
      turns.take(update)
    },
    /** How often a person said something. */
    get messages(): number {
      return messages
    },
    end(): Untold {
      endTurn()
      return { events: lastTurns(events), upTo: undefined }
    }
  }
}
