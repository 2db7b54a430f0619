import type { AgentEvent, Untold } from '../agent.ts'
import { textOf } from './blocks.ts'
import type { Update } from './messages.ts'
import { beginningOf, digestOf, keyOf, type Place, placeOf, Turn, wordsOf } from './places.ts'
import { createTurns } from './turns.ts'

type Text = Extract<AgentEvent, { type: 'text' }>

/** What a person said, and what the agent did after it. */
interface Part {
  prompt: string
  updates: Update[]
}

const tellable = new Set<AgentEvent['type']>([
  'text',
  'step-started',
  'step-ended',
  'subagent-started',
  'subagent-stopped',
  'plan',
  'picture'
])

/**
 * Listens to an agent that repeats a conversation in whose last turn the process ended that should have told it, or the agent
 * itself: what was not told of it is found where what was told ends.
 */
export function listenForRest(place: Place) {
  const parts: Part[] = []
  let messageId: string | null | undefined
  let isAsking = false

  return {
    take(update: Update): void {
      if (update.sessionUpdate !== 'user_message_chunk') {
        isAsking = false
        parts.at(-1)?.updates.push(update)
        return
      }
      const text = update.content ? textOf(update.content) : ''
      const last = parts.at(-1)
      if (isAsking && last && messageId === update.messageId) last.prompt += text
      else parts.push({ prompt: text, updates: [] })
      isAsking = true
      messageId = update.messageId
    },
    /** How often a person said something. */
    get messages(): number {
      return parts.length
    },
    end(): Untold {
      const upTo = placeOf({ ...place, messages: parts.length, isEnded: true })
      return { events: place.isEnded ? [] : restOf(place, parts), upTo }
    }
  }
}

function restOf(place: Place, parts: readonly Part[]): AgentEvent[] {
  const at = findTurn(place, parts)
  if (at < 0) return []
  const isSteered = ({ prompt }: Part) => place.steered.some(text => text !== '' && wordsOf(prompt).includes(text))
  const next = parts.findIndex((part, index) => index > at && !isSteered(part))
  const own = parts.slice(at, next < 0 ? undefined : next)
  // What was said to the agent elsewhere comes after it.
  const others = next < 0 ? [] : parts.slice(next)
  return [...afterPlace(place, toldIn(own)), ...others.flatMap((part, index) => otherTurn(part, `${place.turn} and ${index}`))]
}

/** Which of them the place is in; -1 when that cannot be told for certain. The same may have been said to the agent more than once. */
function findTurn(place: Place, parts: readonly Part[]): number {
  const isIt = (part: Part | undefined) => part !== undefined && wordsOf(part.prompt).includes(place.prompt)
  const counted = (place.messages ?? 0) - place.steered.length - 1
  if (isIt(parts[counted])) return counted
  const last = parts.findLastIndex(isIt)
  const { says } = place.said
  return says &&
    streamsOf(toldIn(parts.slice(last)))
      .get('says')
      ?.startsWith(says)
    ? last
    : -1
}

function toldIn(parts: readonly Part[]): AgentEvent[] {
  const events: AgentEvent[] = []
  const turns = createTurns(event => tellable.has(event.type) && events.push(event))
  turns.begin()
  for (const update of parts.flatMap(({ updates }) => updates)) turns.take(update)
  // What an agent repeats it has said to the end, and which of its steps ended nobody knows.
  turns.finish()
  turns.end({ reason: 'cancelled' })
  return events
}

/** Words that were told are left out; of all else what was told has the same name. */
function afterPlace({ turn: id, prompt, said }: Place, events: readonly AgentEvent[]): AgentEvent[] {
  const turn = new Turn(id, prompt)
  const streams = streamsOf(events)
  const left = new Map(Object.entries(said).map(([key, told]) => [key, streams.get(key)?.startsWith(told) ? told.length : undefined]))
  return events.flatMap(event => {
    if (event.type === 'picture') return withoutBytes(turn.name(event))
    if (event.type !== 'text') return turn.name(event)
    const key = keyOf(event)
    const toSkip = left.has(key) ? left.get(key) : 0
    // It repeats other words than it said: nobody can tell what of them is new.
    if (toSkip === undefined) return []
    const [told, rest] = split(event, toSkip)
    left.set(key, toSkip - wordsOf(told.text).length)
    turn.name(told)
    return rest.text.trim() === '' ? [] : turn.name(rest)
  })
}

function otherTurn(part: Part, id: string): AgentEvent[] {
  const turn = new Turn(id, beginningOf(part.prompt))
  return [
    { type: 'turn-ended', reason: 'done' },
    { type: 'prompted', text: part.prompt, isOurs: false, row: `${id} begins` },
    ...toldIn([part]).map(event => withoutBytes(turn.name(event))),
    { type: 'turn-ended', reason: 'done' }
  ]
}

/** What is read again goes no further than to disk: a picture that nobody has seen is named, and one that was sent has the same name. */
function withoutBytes(event: AgentEvent): AgentEvent {
  if (event.type !== 'picture') return event
  const { name, row, subagent } = event
  return { type: 'text', block: row ?? name, text: `[${name}]`, thinking: false, row, subagent }
}

/** All that was said in one way, in a row. */
function streamsOf(events: readonly AgentEvent[]) {
  const all = new Map<string, string>()
  for (const event of events) if (event.type === 'text') all.set(keyOf(event), (all.get(keyOf(event)) ?? '') + wordsOf(event.text))
  return {
    get(key: string) {
      const words = all.get(key) ?? ''
      return { startsWith: ({ length, digest }: { length: number; digest: string }) => digestOf(words.slice(0, length)) === digest }
    }
  }
}

/** After so many characters that are no spaces. */
function split(text: Text, length: number): [Text, Text] {
  let at = 0
  for (let left = length; left > 0 && at < text.text.length; at++) if (/\S/.test(text.text.charAt(at))) left--
  return [
    { ...text, text: text.text.slice(0, at) },
    { ...text, text: text.text.slice(at) }
  ]
}
