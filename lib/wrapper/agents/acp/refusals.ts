import type { TurnEnd } from '../agent.ts'

export function endOfTurn(stopReason: string): TurnEnd {
  switch (stopReason) {
    case 'cancelled':
      return { reason: 'cancelled' }
    case 'refusal':
      return { reason: 'failed', error: 'The agent refused to continue.' }
    case 'max_tokens':
      return { reason: 'failed', error: 'The answer exceeded the output limit of the model.' }
    case 'max_turn_requests':
      return { reason: 'failed', error: 'The turn exceeded the request limit of the agent.' }
    default:
      return { reason: 'done' }
  }
}

/** What to do about an agent that is not signed in, or whose key was rejected. */
export function signInFirst(title: string): string {
  return `${title} is not signed in, or its key was rejected. Run it once in a terminal on this computer and sign in there (/login), then send this again.`
}

/** "Internal error" says nothing; agents put the cause into the data next to it. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const data: unknown = 'data' in error ? error.data : undefined
  if (typeof data === 'string' && data !== '') return data
  if (typeof data === 'object' && data !== null) {
    for (const field of ['details', 'message', 'error']) {
      const text: unknown = Reflect.get(data, field)
      if (typeof text === 'string' && text !== '') return text
    }
  }
  return error.message
}
