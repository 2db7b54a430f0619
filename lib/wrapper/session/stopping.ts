import { withDeadline } from '../../async/deadline.ts'
import type { SessionParts } from './parts.ts'
import type { Prompts } from './prompts.ts'

/** A person stops the turn that runs, or the one that is about to begin: then the agent is not given its prompt, or is stopped once it has it. */
export interface Stopping {
  /** What is on its way to the agent, or with it, was stopped. */
  readonly isStopped: boolean
  /** A prompt is on its way to the agent. */
  begin(): void
  /** The turn is over. */
  end(): void
  stop(): Promise<void>
}

export interface StoppingDeps {
  parts: Pick<SessionParts, 'agent' | 'uplink'>
  prompts: Pick<Prompts, 'hasNext'>
  isRunning(): boolean
}

// What was said right before the stop may still be read from the server.
const heardWithinMs = 2_000

export function createStopping({ parts, prompts, isRunning }: StoppingDeps): Stopping {
  let isStopped = false
  let isNextStopped = false
  return {
    get isStopped() {
      return isStopped
    },
    begin() {
      isStopped = isNextStopped
      isNextStopped = false
    },
    end() {
      isStopped = false
    },
    async stop() {
      if (!isRunning()) await withDeadline(heardWithinMs, async () => parts.uplink?.caughtUp()).catch(() => {})
      if (isRunning()) isStopped = true
      else if (prompts.hasNext) isNextStopped = true
      await parts.agent.cancel()
    }
  }
}
