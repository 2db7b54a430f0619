import type { Agent, AgentEvent } from '../agent.ts'

/** By the agent's own ids. */
interface Wish {
  mode?: string
  model?: string
  effort?: string
}

/** What the phone wants of Claude Code while that is at its terminal, where only the keys there choose: it comes true once the phone drives. */
interface Wishes {
  note(wish: Wish): void
  /** Another mode was chosen at the terminal since. */
  forgetMode(): void
  /** All of it, once. */
  take(): Wish
  /** The model and the level of thought; the mode is given to the agent as it starts. */
  fulfil(wish: Wish, agent: Agent): Promise<void>
}

export function createWishes(emit: (event: AgentEvent) => void): Wishes {
  let wished: Wish = {}
  return {
    note(wish) {
      wished = { ...wished, ...wish }
    },
    forgetMode() {
      delete wished.mode
    },
    take() {
      const wish = wished
      wished = {}
      return wish
    },
    async fulfil({ model, effort }, agent) {
      if (model !== undefined && (await agent.setModel?.(model)) !== true) emit(notThere(`model ${model}`))
      if (effort !== undefined && (await agent.setEffort?.(effort)) !== true) emit(notThere(`level of thought ${effort}`))
    }
  }
}

function notThere(what: string): AgentEvent {
  return { type: 'notice', text: `The agent has no ${what}; it goes on as it was.` }
}
