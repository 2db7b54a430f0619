import { createHash, type Hash, randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { AgentEvent, ToldUpTo } from '../agent.ts'

/** How far a conversation was told that its agent can repeat: all before its last turn, and of that one what was said in it up to here. */
export interface Place {
  conversation: string
  /** Ours, so that what is read again carries the same names. */
  turn: string
  /** The beginning of what it began with, and of what was said within it; without spaces, as all words here. */
  prompt: string
  steered: string[]
  /** How many messages of a person the conversation had with these; undefined when nobody counted from its beginning. */
  messages?: number | undefined
  /** What was told of each kind of words. */
  said: Record<string, { length: number; digest: string }>
  isEnded: boolean
}

// As it is kept where others keep a place in a file: the agent alone can repeat what it said.
const scheme = 'acp:'

export function placeOf(place: Place): ToldUpTo {
  return { file: `${scheme}${JSON.stringify(place)}`, offset: 0 }
}

/** Undefined for a place that another kind of agent told. */
export function readPlace({ file }: ToldUpTo): Place | undefined {
  if (!file.startsWith(scheme)) return undefined
  try {
    return shape.parse(JSON.parse(file.slice(scheme.length)))
  } catch {
    return undefined
  }
}

const shape = z.object({
  conversation: z.string(),
  turn: z.string(),
  prompt: z.string(),
  steered: z.array(z.string()),
  messages: z.number().optional(),
  said: z.record(z.string(), z.object({ length: z.number(), digest: z.string() })),
  isEnded: z.boolean()
})

/** Names what is told of a turn after its place in it, and follows how far that is. */
export interface Told {
  /** Undefined before the first turn. */
  place(conversation: string): Place | undefined
  /** The conversation has so many messages of a person already. */
  goOn(messages: number | undefined): void
  begin(prompt: string): void
  steer(text: string): void
  /** The same event with its name. */
  name(event: AgentEvent): AgentEvent
  /** Whether the place after this event is worth being kept: nothing in front of it is still open. */
  isSettled(event: AgentEvent): boolean
}

export function createTold(): Told {
  let turn: Turn | undefined
  let messages: number | undefined
  return {
    place: conversation => turn && { conversation, messages, ...turn.place },
    goOn(before) {
      messages = before
    },
    begin(prompt) {
      if (messages !== undefined) messages += 1
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
export class Turn {
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
        // What the agent kept of it may be more than it came to say.
        this.#isEnded = event.isLost !== true
        return event
      default:
        return event
    }
  }

  isSettled({ type }: AgentEvent): boolean {
    return type === 'text' || type === 'turn-ended' || (type === 'step-ended' && this.#openSteps.size === 0)
  }

  /** By its words and by where they begin in all that was said so. */
  #say(event: Extract<AgentEvent, { type: 'text' }>): string {
    const key = keyOf(event)
    const known = this.#said.get(key) ?? { length: 0, hash: createHash('sha256') }
    const words = wordsOf(event.text)
    const row = `${this.id} ${key} ${known.length} ${digestOf(words)}`
    // Should the agent have it whole after all, that is another text.
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

export function keyOf({ thinking, subagent = '' }: Extract<AgentEvent, { type: 'text' }>): string {
  return `${thinking ? 'thinks' : 'says'} ${subagent}`.trim()
}

/** Where an agent breaks a line is not always the same when it says it again. */
export function wordsOf(text: string): string {
  return text.replace(/\s+/g, '')
}

export function beginningOf(text: string): string {
  return wordsOf(text).slice(0, mostKept)
}

export function digestOf(words: string): string {
  return createHash('sha256').update(words).digest('base64url')
}

const mostKept = 200
