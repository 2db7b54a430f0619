import { pause } from '../../../../async/pause.ts'
import type { AgentEvent } from '../../agent.ts'

/** How full the context of the model is. */
export interface Usage {
  /** So many tokens were in the last request to this model. */
  take(used: number, model: string): void
  /** Resolves when it is told, or cannot be soon. */
  told(): Promise<void>
}

const toldWithinMs = 3_000

/** What Claude Code writes down says how much is in it; how much fits has to be found out, once for each model. */
export function createUsage(emit: (event: AgentEvent) => void, windowOf: (model: string) => Promise<number | undefined>): Usage {
  const windows = new Map<string, number>()
  let telling: Promise<void> = Promise.resolve()
  let newest: { used: number; model: string } | undefined

  const tell = (size: number) => {
    if (newest) emit({ type: 'usage', used: newest.used, size })
  }
  return {
    take(used, model) {
      newest = { used, model }
      const size = windows.get(model)
      if (size !== undefined) return tell(size)
      telling = windowOf(model).then(size => {
        if (size === undefined) return
        windows.set(model, size)
        if (newest?.model === model) tell(size)
      })
    },
    told: () => Promise.race([telling, pause(toldWithinMs)])
  }
}
