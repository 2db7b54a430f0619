import type { AgentEvent } from '../../agent.ts'
import type { Hook } from './hooks.ts'

/** What Claude Code says, line by line while it says it; what it wrote down comes later, and whole. */
export interface LiveText {
  grow(hook: Hook): void
  /** Under which name a text that was written down grew before; undefined when it did not. */
  blockOf(text: string): string | undefined
  /** Tells what it will never write down: it is gone. */
  cut(): void
  /** What grew so far is over, or is said anew. */
  forget(): void
}

export function createLiveText(emit: (event: AgentEvent) => void): LiveText {
  let message: { id: string; deltas: string[]; told: number; blocks: number } | undefined

  const rest = () => message?.deltas.join('').slice(message.told) ?? ''
  const nameOf = ({ id, blocks }: { id: string; blocks: number }) => `live ${id} ${blocks}`

  return {
    grow({ message_id: id, index, delta }) {
      if (id === undefined || index === undefined || delta === undefined) return
      if (message?.id !== id) message = { id, deltas: [], told: 0, blocks: 0 }
      message.deltas[index] = delta
      const text = rest().trimStart()
      if (text !== '') emit({ type: 'text-grew', block: nameOf(message), text, thinking: false })
    },
    blockOf(text) {
      const grown = rest()
      // Several blocks of one message grow as if they were one; the last line may not have come yet.
      if (!message || grown.trim() === '' || !isBeginning(grown.trim(), text.trim())) return undefined
      const name = nameOf(message)
      message.told += grown.length - grown.trimStart().length + text.trim().length
      message.blocks++
      return name
    },
    cut() {
      const text = rest().trim()
      if (message && text !== '') emit({ type: 'text', block: nameOf(message), text, thinking: false, isCut: true })
      message = undefined
    },
    forget() {
      message = undefined
    }
  }
}

function isBeginning(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}
