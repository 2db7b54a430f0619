import type { AgentEvent, ToldUpTo, TurnEnd, Untold } from '../agent.ts'
import type { History, Message } from './shapes.ts'
import { createTelling, endsTurn } from './telling.ts'

/**
 * What opencode kept of a conversation after a place in it, which is the moment its last told message began. A turn that it
 * kept the end of is ended with it.
 */
export function readSince(place: ToldUpTo, history: History): Untold {
  const events: AgentEvent[] = []
  const telling = createTelling({ emit: event => events.push(event) })
  let answer = history.findLast(({ info }) => info.role === 'assistant' && info.time.created <= place.offset)
  const endTurn = () => {
    if (answer && isLastOfTurn(answer)) events.push({ type: 'turn-ended', ...endOf(answer.info) })
  }
  for (const entry of history.filter(({ info }) => info.time.created > place.offset)) {
    const { info, parts } = entry
    // What is said before an answer is whole belongs to its turn.
    if (info.role === 'user' && info.time.created > (answer?.info.time.completed ?? Number.POSITIVE_INFINITY)) endTurn()
    if (info.role === 'assistant') answer = entry
    for (const part of parts) if (part) telling.part(part)
    telling.message(info)
    telling.cut()
  }
  endTurn()
  return { events, upTo: { file: place.file, offset: history.at(-1)?.info.time.created ?? place.offset } }
}

const mostTurns = 20

/** The last turns of a conversation that was begun without Afield, to be told once. */
export function readPast(conversation: string, history: History): Untold {
  const prompts = history.filter(({ info }) => info.role === 'user').slice(-mostTurns)
  return readSince({ file: conversation, offset: (prompts[0]?.info.time.created ?? 0) - 1 }, history)
}

/** How the turn ended whose last message of the model this is. */
export function endOf({ error }: Pick<Message, 'error'>): TurnEnd {
  if (!error) return { reason: 'done' }
  if (error.name === 'MessageAbortedError') return { reason: 'cancelled' }
  return { reason: 'failed', error: error.data?.message ?? `opencode could not go on (${error.name}).` }
}

/** After one that used a tool, another one comes. */
function isLastOfTurn({ info: { time, error, finish }, parts }: History[number]): boolean {
  if (time.completed === undefined) return false
  return error !== undefined || finish !== 'tool-calls' || parts.some(part => part?.type === 'tool' && endsTurn(part.state))
}
