import { withDeadline } from '../../async/deadline.ts'
import type { SessionParts } from './parts.ts'
import type { Prompt, Prompts } from './prompts.ts'
import type { Settling } from './settling.ts'

/** What becomes of messages that do not wait for the turn that runs: it takes them in, or ends. */
export interface Steering {
  /** For the first that waits, if it is such a one. */
  makeWay(): Promise<void>
  /** Resolves when it is clear what the turn, which has ended, took in. Until then nothing that waits is handed over. */
  clear(): Promise<void>
}

export interface SteeringDeps {
  parts: Pick<SessionParts, 'agent' | 'requests' | 'choices'>
  prompts: Prompts
  settling: Settling
  isRunning(): boolean
}

// An agent that has ended its turn and does not say whether it took in the message has not.
const clearWithinMs = 10_000

export function createSteering({ parts, prompts, settling, isRunning }: SteeringDeps): Steering {
  const { agent, requests, choices } = parts
  let steering: Promise<boolean> | undefined
  let giveUp = () => {}

  async function isTaken({ text, meta }: Prompt): Promise<boolean> {
    try {
      await choices.apply(meta)
      return (await agent.steer?.(text)) ?? false
    } catch {
      return false
    }
  }

  /** Whether it is done with, and the turn goes on. */
  async function steer(prompt: Prompt): Promise<boolean> {
    const { promise: tooLate, resolve } = Promise.withResolvers<boolean>()
    giveUp = () => resolve(false)
    if (await Promise.race([isTaken(prompt), tooLate])) {
      prompts.done(prompt)
      settling.read(prompt)
      return true
    }
    if (!prompts.giveBack(prompt)) {
      settling.drop(prompt)
      return true
    }
    if (isRunning()) await agent.cancel()
    return false
  }

  async function makeWay(): Promise<void> {
    // One after the other: each comes where it was said.
    if (steering || !prompts.isUrgent) return
    const isAsking = requests.open.length > 0
    const prompt = agent.steer && !isAsking ? prompts.takeUrgent() : undefined
    if (!prompt) return agent.cancel()
    steering = steer(prompt).finally(() => {
      steering = undefined
    })
    if ((await steering) && isRunning()) await makeWay()
  }

  return {
    makeWay,
    async clear() {
      await withDeadline(clearWithinMs, async () => steering).catch(() => giveUp())
      await steering
    }
  }
}
