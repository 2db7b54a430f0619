import * as v from '../../../schema.ts'
import type { AgentEvent, HistoryPosition, Step, UnsentHistory } from '../agent.ts'
import type { Line } from './server.ts'
import { type Item, type Turn, turnsPage } from './shapes.ts'
import { endOf, stepOf } from './steps.ts'

// A position in a thread, stored where other agents store a file position: only Codex can read its
// threads.
const scheme = 'codex:'
const end = '/end'
const cut = '/cut'

export interface Place {
  thread: string
  /** Undefined before the first turn. */
  turn: string | undefined
  /** Whether the turn was sent too. */
  isSent: boolean
  /** The turn was ended because Codex was gone: what Codex has of it after all may not have been received. */
  isCut?: boolean
}

export function placeOf({ thread, turn = '', isSent, isCut = false }: Place): HistoryPosition {
  return { file: `${scheme}${thread}/${turn}${isSent ? end : isCut ? cut : ''}`, offset: 0 }
}

export function readPlace({ file }: HistoryPosition): Place | undefined {
  const [, thread, turn, state] = /^codex:([^/]+)\/([^/]*)(\/end|\/cut)?$/.exec(file) ?? []
  if (thread === undefined) return undefined
  return { thread, turn: turn || undefined, isSent: state === end, isCut: state === cut }
}

/** What Codex recorded of a thread after a position. */
export async function readUnsent(line: Line, place: Place, isOurs: (clientId: string | undefined) => boolean): Promise<UnsentHistory> {
  const events: AgentEvent[] = []
  const translator = createTranslator({ emit: event => events.push(event), isOurs })
  const turns = await turnsAfter(line, place)
  for (const turn of turns) {
    translator.begin(turn.id)
    // Of one that ended without Codex, its start and end were sent.
    const isCut = place.isCut === true && turn.id === place.turn
    for (const item of turn.items) if (item && !(isCut && item.type === 'userMessage')) translator.completed(item)
    if (!isCut) translator.end(turn)
  }
  const last = turns.at(-1)
  return { events, upTo: placeOf(last ? { thread: place.thread, turn: last.id, isSent: true } : place) }
}

/** The current last turn. */
export async function lastTurn(line: Line, threadId: string): Promise<Turn | undefined> {
  return (await page(line, { threadId, limit: 1 })).data[0]
}

const pageSize = 20

/** In order. The turn of the position itself is among them unless it was sent. */
export async function turnsAfter(line: Line, { thread, turn, isSent }: Place): Promise<Turn[]> {
  const turns: Turn[] = []
  let cursor: string | null | undefined
  do {
    const { data, nextCursor } = await page(line, { threadId: thread, limit: pageSize, cursor: cursor ?? null })
    for (const known of data) {
      if (known.id === turn && isSent) return turns.reverse()
      turns.push(known)
      if (known.id === turn) return turns.reverse()
    }
    cursor = nextCursor
  } while (cursor)
  return turns.reverse()
}

async function page(line: Line, params: { threadId: string; limit: number; cursor?: string | null }) {
  return v.parse(turnsPage, await line.request('thread/turns/list', { ...params, sortDirection: 'desc', itemsView: 'full' }))
}

export interface Translator {
  /** The following items belong to it. */
  begin(turn: string): void
  started(item: Item): void
  /** The item is complete; sent once. */
  completed(item: Item): void
  grew(id: string, delta: string, thinking: boolean): void
  /** What is known of a running step. */
  step(call: string): Step | undefined
  /** Open items end with their turn. `isLost`: Codex is gone, and does not have incomplete ones. */
  end(turn: Pick<Turn, 'status' | 'error'>, isLost?: boolean): void
}

/**
 * Converts the items of a thread to agent events. Each is named after its turn and its item, so that one
 * sent by two processes is the same. `isOurs` says whether a message is one that we handed over.
 */
export function createTranslator({
  emit,
  isOurs
}: {
  emit(event: AgentEvent): void
  isOurs(clientId: string | undefined): boolean
}): Translator {
  let turn = ''
  const reported = new Set<string>()
  const steps = new Map<string, Step>()
  const growing = new Map<string, { text: string; thinking: boolean }>()

  const row = (id: string) => `${turn} ${id}`
  const say = (id: string, text: string, thinking = false, { isLost = false, isStopped = false } = {}) => {
    // If Codex has the full text after all, that is another text.
    const named = isLost ? { isCut: true, row: row(`${id} cut`) } : { row: row(id), ...(isStopped && { isStopped }) }
    if (text.trim() !== '') emit({ type: 'text', block: id, text, thinking, ...named })
  }
  const beginStep = (step: Step) => {
    const isKnown = steps.has(step.call)
    steps.set(step.call, step)
    if (isKnown) emit({ type: 'step-updated', step })
    else emit({ type: 'step-started', step, row: row(`${step.call} begins`) })
  }
  const endStep = (step: Step, status: ReturnType<typeof endOf>) => {
    if (!steps.has(step.call)) beginStep(step)
    steps.delete(step.call)
    emit({ type: 'step-ended', step, status, row: row(`${step.call} ends`) })
  }

  return {
    begin(name) {
      if (name === turn) return
      turn = name
      reported.clear()
      steps.clear()
      growing.clear()
    },

    started(item) {
      if (reported.has(item.id)) return
      const step = stepOf(item)
      if (step) beginStep(step)
    },

    completed(item) {
      if (reported.has(item.id)) return
      reported.add(item.id)
      growing.delete(item.id)
      switch (item.type) {
        case 'userMessage': {
          const text = item.content.map(part => part.text ?? `[${part.type}]`).join('\n')
          emit({ type: 'prompted', text, isOurs: isOurs(item.clientId ?? undefined), row: row(item.id) })
          return
        }
        case 'agentMessage':
        case 'plan':
          return say(item.id, item.text)
        case 'reasoning':
          return say(item.id, item.summary.join('\n\n') || item.content.join('\n\n'), true)
        case 'exitedReviewMode':
          return say(item.id, item.review)
        case 'enteredReviewMode':
          return emit({ type: 'notice', text: `Codex reviews ${item.review}.` })
        case 'contextCompaction':
          return emit({ type: 'notice', text: 'Codex compacted the conversation.' })
        default: {
          const step = stepOf(item)
          if (step) endStep(step, endOf(item))
        }
      }
    },

    grew(id, delta, thinking) {
      if (reported.has(id)) return
      const { text } = growing.get(id) ?? { text: '' }
      growing.set(id, { text: text + delta, thinking })
      emit({ type: 'text-grew', block: id, text: text + delta, thinking })
    },

    step: call => steps.get(call),

    end({ status, error }, isLost = false) {
      // Interrupted text stays on the screens, and is marked; text that Codex started again was removed by
      // itself.
      if (status !== 'completed') for (const [id, { text, thinking }] of growing) say(id, text, thinking, { isLost, isStopped: !isLost })
      growing.clear()
      for (const step of steps.values()) endStep(step, status === 'completed' ? 'completed' : 'cancelled')
      if (status === 'failed') emit({ type: 'turn-ended', reason: 'failed', error: error?.message ?? 'Codex could not continue.' })
      else emit({ type: 'turn-ended', reason: status === 'completed' ? 'done' : 'cancelled' })
    }
  }
}
