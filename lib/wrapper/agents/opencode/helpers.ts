import type { AgentEvent } from '../agent.ts'
import type { Session } from './shapes.ts'
import { createTelling, type Telling } from './telling.ts'

/** The conversations that the agent has with helpers of its own. */
export interface Helpers {
  /** A conversation was begun; nothing happens unless one that we follow began it. */
  begin(session: Session, conversation: string): void
  end(id: string): void
  /** Whether a conversation is none that an agent has with a helper, of any conversation. */
  isOfPerson(id: string): boolean
  tellingOf(id: string): Telling | undefined
  /** Of the helper whose step it is. */
  ofStep(call: string): Telling | undefined
  /** `isLost`: opencode is gone, and does not have what was not whole. */
  endAll(isLost?: boolean): void
}

export function createHelpers(emit: (event: AgentEvent) => void): Helpers {
  const running = new Map<string, Telling>()
  const ofAgents = new Set<string>()

  const end = (id: string, isLost = false) => {
    const telling = running.get(id)
    if (!running.delete(id)) return
    telling?.cut(isLost)
    emit({ type: 'subagent-stopped', subagent: id, row: `${id} ends` })
  }

  return {
    begin({ id, parentID, title }, conversation) {
      if (parentID === undefined || running.has(id)) return
      ofAgents.add(id)
      if (parentID !== conversation && !running.has(parentID)) return
      running.set(id, createTelling({ emit, subagent: id }))
      emit({ type: 'subagent-started', subagent: id, title: title || undefined, row: `${id} begins` })
    },
    end,
    isOfPerson: id => !ofAgents.has(id),
    tellingOf: id => running.get(id),
    ofStep: call => [...running.values()].find(telling => telling.hasStep(call)),
    endAll(isLost) {
      for (const id of [...running.keys()]) end(id, isLost)
    }
  }
}
