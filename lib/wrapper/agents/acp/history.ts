import { createHash, type Hash, randomUUID } from 'node:crypto'
import * as v from '../../../schema.ts'
import type { AgentEvent, HistoryPosition, UnsentHistory } from '../agent.ts'
import { lastTurns } from '../history.ts'
import { textOf, type Update } from './messages.ts'
import { createTurns } from './turns.ts'

/** How far a replayable conversation was sent: everything before its last turn, and that turn up to here. */
export interface Place {
  conversation: string
  /** Ours, so that replayed events have the same names. */
  turn: string
  /** The beginning of its prompt, and of input within it; without spaces, like all texts here. */
  prompt: string
  steered: string[]
  /**
   * How many prompts the conversation had including these; undefined if they were not counted from its
   * beginning.
   */
  messages?: number | undefined
  /** What was sent of each kind of text. */
  said: Record<string, { length: number; digest: string }>
  isEnded: boolean
}

// Stored where other agents store a file position: only the agent can replay its output.
const scheme = 'acp:'

export function placeOf(place: Place): HistoryPosition {
  return { file: `${scheme}${JSON.stringify(place)}`, offset: 0 }
}

/** Undefined for a cursor of another kind of agent. */
export function readPlace({ file }: HistoryPosition): Place | undefined {
  if (!file.startsWith(scheme)) return undefined
  try {
    return v.parse(shape, JSON.parse(file.slice(scheme.length)))
  } catch {
    return undefined
  }
}

const shape = v.object({
  conversation: v.string(),
  turn: v.string(),
  prompt: v.string(),
  steered: v.array(v.string()),
  messages: v.optional(v.number()),
  said: v.record(v.string(), v.object({ length: v.number(), digest: v.string() })),
  isEnded: v.boolean()
})

/** Names the events of a turn by their place in it, and tracks how far it has got. */
export interface TurnTracker {
  /** Undefined before the first turn. */
  place(conversation: string): Place | undefined
  /** The conversation already has this many prompts. */
  goOn(messages: number | undefined): void
  begin(prompt: string): void
  /** The agent gets the prompt of the turn a second time. */
  promptAgain(): void
  steer(text: string): void
  /** The same event with its name. */
  name(event: AgentEvent): AgentEvent
  /** Whether the cursor after this event is worth storing: nothing before it is still open. */
  isSettled(event: AgentEvent): boolean
}

export function createTurnTracker(): TurnTracker {
  let turn: Turn | undefined
  let messages: number | undefined
  let isCounted = false
  return {
    place: conversation => turn && { conversation, messages, ...turn.place },
    goOn(before) {
      messages = before
      isCounted = false
    },
    promptAgain() {
      // Only a conversation that began anew has it once.
      if (!isCounted && messages !== undefined) messages += 1
      isCounted = true
    },
    begin(prompt) {
      if (messages !== undefined) messages += 1
      isCounted = true
      turn = new Turn(randomUUID(), beginningOf(prompt))
    },
    steer(text) {
      if (messages !== undefined) messages += 1
      turn?.steered.push(beginningOf(text))
    },
    name: event => turn?.name(event) ?? event,
    isSettled: event => turn?.isSettled(event) ?? false
  }
}

/** One whose beginning is known. */
class Turn {
  readonly id: string
  readonly prompt: string
  readonly steered: string[] = []
  readonly #said = new Map<string, { length: number; hash: Hash }>()
  readonly #times = new Map<string, number>()
  readonly #openSteps = new Set<string>()
  #isEnded = false

  constructor(id: string, prompt: string) {
    this.id = id
    this.prompt = prompt
  }

  get place(): Omit<Place, 'conversation'> {
    const said = [...this.#said].map(([key, { length, hash }]) => [key, { length, digest: hash.copy().digest('base64url') }])
    return { turn: this.id, prompt: this.prompt, steered: [...this.steered], said: Object.fromEntries(said), isEnded: this.#isEnded }
  }

  name(event: AgentEvent): AgentEvent {
    if (this.#isEnded) return event
    switch (event.type) {
      case 'text':
        return { ...event, row: this.#say(event) }
      case 'step-started':
        this.#openSteps.add(event.step.call)
        return { ...event, row: this.#row(`${event.step.call} begins`) }
      case 'step-ended':
        this.#openSteps.delete(event.step.call)
        return { ...event, row: this.#row(`${event.step.call} ends`) }
      case 'subagent-started':
      case 'subagent-stopped':
        return { ...event, row: this.#row(`${event.subagent} ${event.type}`) }
      case 'picture':
        return { ...event, row: this.#row(`shows ${createHash('sha256').update(event.bytes).digest('base64url')}`) }
      case 'plan':
        return { ...event, row: this.#row(`plans ${digestOf(JSON.stringify(event.entries))}`) }
      case 'turn-ended':
        // The agent may have stored more of it than it sent.
        this.#isEnded = event.isLost !== true
        return event
      default:
        return event
    }
  }

  isSettled({ type }: AgentEvent): boolean {
    return type === 'text' || type === 'turn-ended' || (type === 'step-ended' && this.#openSteps.size === 0)
  }

  /** By its text and its position in all text of that kind. */
  #say(event: Extract<AgentEvent, { type: 'text' }>): string {
    const key = keyOf(event)
    const known = this.#said.get(key) ?? { length: 0, hash: createHash('sha256') }
    const words = wordsOf(event.text)
    const row = `${this.id} ${key} ${known.length} ${digestOf(words)}`
    // If the agent has the full text after all, that is another text.
    if (event.isCut) return `${row} cut`
    this.#said.set(key, { length: known.length + words.length, hash: known.hash.update(words) })
    return row
  }

  #row(what: string): string {
    const times = (this.#times.get(what) ?? 0) + 1
    this.#times.set(what, times)
    return `${this.id} ${what} ${times}`
  }
}

function keyOf({ thinking, subagent = '' }: Extract<AgentEvent, { type: 'text' }>): string {
  return `${thinking ? 'thinks' : 'says'} ${subagent}`.trim()
}

/** An agent's line breaks may differ when it replays a text. */
function wordsOf(text: string): string {
  return text.replace(/\s+/g, '')
}

function beginningOf(text: string): string {
  return wordsOf(text).slice(0, mostKept)
}

function digestOf(words: string): string {
  return createHash('sha256').update(words).digest('base64url')
}

const mostKept = 200

const repeatedSteps = new Set<AgentEvent['type']>(['step-started', 'step-ended', 'subagent-started', 'subagent-stopped', 'plan'])

/** Follows the replay of a conversation that was begun without us, so that its last turns can be sent once. */
export function followReplay(conversation: string) {
  const events: AgentEvent[] = []
  const turns = createTurns(event => {
    // The same names in each replay: what an earlier attempt has sent is not sent again.
    if (event.type === 'text') events.push({ ...event, row: rowOf(events.length) })
    else if (repeatedSteps.has(event.type)) events.push(event)
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
    /** How many prompts there were. */
    get messages(): number {
      return messages
    },
    end(): UnsentHistory {
      endTurn()
      return { events: lastTurns(events), upTo: undefined }
    }
  }
}

type Text = Extract<AgentEvent, { type: 'text' }>

/** A prompt, and what the agent did after it. */
interface Part {
  prompt: string
  updates: Update[]
}

const repeatedEvents = new Set<AgentEvent['type']>([
  'text',
  'step-started',
  'step-ended',
  'subagent-started',
  'subagent-stopped',
  'plan',
  'picture'
])

/**
 * Follows the replay of a conversation in whose last turn the wrapper or the agent ended: what was not sent
 * is found after the point up to which it was.
 */
export function followReplayFrom(place: Place) {
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
    /** How many prompts there were. */
    get messages(): number {
      return parts.length
    },
    end(): UnsentHistory {
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
  // Prompts given to the agent elsewhere come after it.
  const others = next < 0 ? [] : parts.slice(next)
  return [...afterPlace(place, eventsOf(own)), ...others.flatMap((part, index) => otherTurn(part, `${place.turn} and ${index}`))]
}

/** The one that contains the cursor; -1 if uncertain. The same prompt may have been given more than once. */
function findTurn(place: Place, parts: readonly Part[]): number {
  const isIt = (part: Part | undefined) => part !== undefined && wordsOf(part.prompt).includes(place.prompt)
  const counted = (place.messages ?? 0) - place.steered.length - 1
  if (isIt(parts[counted])) return counted
  const last = parts.findLastIndex(isIt)
  const { says } = place.said
  return says &&
    streamsOf(eventsOf(parts.slice(last)))
      .get('says')
      ?.startsWith(says)
    ? last
    : -1
}

function eventsOf(parts: readonly Part[]): AgentEvent[] {
  const events: AgentEvent[] = []
  const turns = createTurns(event => repeatedEvents.has(event.type) && events.push(event))
  turns.begin()
  for (const update of parts.flatMap(({ updates }) => updates)) turns.take(update)
  // What an agent replays is complete, and which of its steps ended is unknown.
  turns.finish()
  turns.end({ reason: 'cancelled' })
  return events
}

/** Text already sent is left out; everything else already sent has the same name. */
function afterPlace({ turn: id, prompt, said }: Place, events: readonly AgentEvent[]): AgentEvent[] {
  const turn = new Turn(id, prompt)
  const streams = streamsOf(events)
  const left = new Map(Object.entries(said).map(([key, sent]) => [key, streams.get(key)?.startsWith(sent) ? sent.length : undefined]))
  return events.flatMap(event => {
    if (event.type === 'picture') return withoutBytes(turn.name(event))
    if (event.type !== 'text') return turn.name(event)
    const key = keyOf(event)
    const toSkip = left.has(key) ? left.get(key) : 0
    // The replayed text differs from the original: what is new in it is unknown.
    if (toSkip === undefined) return []
    const [sent, rest] = split(event, toSkip)
    left.set(key, toSkip - wordsOf(sent.text).length)
    turn.name(sent)
    return rest.text.trim() === '' ? [] : turn.name(rest)
  })
}

function otherTurn(part: Part, id: string): AgentEvent[] {
  const turn = new Turn(id, beginningOf(part.prompt))
  return [
    { type: 'turn-ended', reason: 'done' },
    { type: 'prompted', text: part.prompt, isOurs: false, row: `${id} begins` },
    ...eventsOf([part]).map(event => withoutBytes(turn.name(event))),
    { type: 'turn-ended', reason: 'done' }
  ]
}

/**
 * Replayed content only goes to disk: a picture that nobody has seen is named, and one that was sent has
 * the same name.
 */
function withoutBytes(event: AgentEvent): AgentEvent {
  if (event.type !== 'picture') return event
  const { name, row, subagent } = event
  return { type: 'text', block: row ?? name, text: `[${name}]`, thinking: false, row, subagent }
}

/** Consecutive text of one kind. */
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

/** After this many non-space characters. */
function split(text: Text, length: number): [Text, Text] {
  let at = 0
  for (let left = length; left > 0 && at < text.text.length; at++) if (/\S/.test(text.text.charAt(at))) left--
  return [
    { ...text, text: text.text.slice(0, at) },
    { ...text, text: text.text.slice(at) }
  ]
}
