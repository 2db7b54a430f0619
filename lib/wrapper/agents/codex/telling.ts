import type { AgentEvent, Step } from '../agent.ts'
import type { Item, Turn } from './shapes.ts'
import { endOf, stepOf } from './steps.ts'

export interface Telling {
  /** The items that follow belong to it. */
  begin(turn: string): void
  started(item: Item): void
  /** The item is whole; told once. */
  completed(item: Item): void
  grew(id: string, delta: string, thinking: boolean): void
  /** What is known of a step that goes on. */
  step(call: string): Step | undefined
  /** What is still open ends with its turn. `isLost`: Codex is gone, and does not have what was not whole. */
  end(turn: Pick<Turn, 'status' | 'error'>, isLost?: boolean): void
}

/**
 * Makes agent events of the items of a thread. Each is named after its turn and its item, so that one told by two processes
 * is the same. `isOurs` says whether a message is one that we handed over.
 */
export function createTelling({ emit, isOurs }: { emit(event: AgentEvent): void; isOurs(clientId: string | undefined): boolean }): Telling {
  let turn = ''
  const told = new Set<string>()
  const steps = new Map<string, Step>()
  const growing = new Map<string, { text: string; thinking: boolean }>()

  const row = (id: string) => `${turn} ${id}`
  const say = (id: string, text: string, thinking = false, { isLost = false, isStopped = false } = {}) => {
    // Should Codex have it whole after all, that is another text.
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
      told.clear()
      steps.clear()
      growing.clear()
    },

    started(item) {
      if (told.has(item.id)) return
      const step = stepOf(item)
      if (step) beginStep(step)
    },

    completed(item) {
      if (told.has(item.id)) return
      told.add(item.id)
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
      if (told.has(id)) return
      const { text } = growing.get(id) ?? { text: '' }
      growing.set(id, { text: text + delta, thinking })
      emit({ type: 'text-grew', block: id, text: text + delta, thinking })
    },

    step: call => steps.get(call),

    end({ status, error }, isLost = false) {
      // What was interrupted stays on the screens it was on, and is marked; what Codex began anew, it took back itself.
      if (status !== 'completed') for (const [id, { text, thinking }] of growing) say(id, text, thinking, { isLost, isStopped: !isLost })
      growing.clear()
      for (const step of steps.values()) endStep(step, status === 'completed' ? 'completed' : 'cancelled')
      if (status === 'failed') emit({ type: 'turn-ended', reason: 'failed', error: error?.message ?? 'Codex could not continue.' })
      else emit({ type: 'turn-ended', reason: status === 'completed' ? 'done' : 'cancelled' })
    }
  }
}
