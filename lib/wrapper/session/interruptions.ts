import { withDeadline } from '../../async/deadline.ts'
import type { SessionParts } from './parts.ts'
import type { Prompt } from './queue.ts'
import type { WhyNot } from './requests/requests.ts'

/** Input to the running turn: the agent accepts it, or it comes first in the next turn. */
export interface Interruptions {
  /** The next queued prompt, if it steers: the turn accepts it, or is ended. */
  steer(): Promise<void>
  /** The reason for a denial, or for stopping the turn. Resolves when it is clear whether this turn or the next one gets it. */
  explain(whyNot: WhyNot, how: { stops: boolean }): Promise<void>
  /** Resolves when it is clear what the ended turn accepted. Until then no queued prompt is handed over. */
  settled(): Promise<void>
}

interface InterruptionsDeps {
  parts: Pick<SessionParts, 'agent' | 'requests' | 'choices' | 'queue'>
  isRunning(): boolean
}

// An agent that ended its turn without confirming the message has not accepted it.
const clearWithinMs = 10_000
const explainWithinMs = 10_000

export function createInterruptions({ parts, isRunning }: InterruptionsDeps): Interruptions {
  const { agent, requests, choices, queue } = parts
  let steering: Promise<boolean> | undefined
  let explaining = Promise.resolve()
  let giveUp = () => {}

  async function isTaken({ text, meta }: Prompt): Promise<boolean> {
    try {
      await choices.apply(meta)
      return (await agent.steer?.(text)) ?? false
    } catch {
      return false
    }
  }

  /** Whether the prompt is settled and the turn continues. */
  async function steerWith(prompt: Prompt): Promise<boolean> {
    const { promise: tooLate, resolve } = Promise.withResolvers<boolean>()
    giveUp = () => resolve(false)
    if (await Promise.race([isTaken(prompt), tooLate])) {
      queue.read(prompt)
      return true
    }
    if (!queue.putBack(prompt)) {
      queue.drop(prompt)
      return true
    }
    if (isRunning()) await agent.cancel()
    return false
  }

  async function steer(): Promise<void> {
    // One after the other, to preserve their order.
    if (steering || !queue.isUrgent) return
    const isAsking = requests.open.length > 0
    const prompt = agent.steer && !isAsking ? queue.takeUrgent() : undefined
    if (!prompt) return agent.cancel()
    steering = steerWith(prompt).finally(() => {
      steering = undefined
    })
    if ((await steering) && isRunning()) await steer()
  }

  return {
    steer,
    async explain(whyNot, how) {
      if (!how.stops && agent.hearsReasons) return
      const reason = queue.noteReason(whyNot, how)
      if (how.stops) return queue.sayReason(reason)
      const heard = withDeadline(explainWithinMs, async () => agent.steer?.(whyNot.reason)).catch(() => false)
      explaining = heard.then(isHeard => (isHeard ? queue.drop(reason) : queue.sayReason(reason)))
      await explaining
    },
    async settled() {
      await withDeadline(clearWithinMs, async () => steering).catch(() => giveUp())
      await Promise.all([steering, explaining])
    }
  }
}
