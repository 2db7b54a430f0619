import type { Image, TurnEnd } from '../agent.ts'
import { isGone, isSignedOut } from './opening.ts'
import { explain, signInFirst } from './refusals.ts'

/** `isLost`: the agent ended in it, and may have written down more than it said. */
export type LostEnd = TurnEnd & { isLost?: boolean }

/**
 * Gives an ACP agent its prompts. What the agent drives may end while the agent itself lives; then the conversation is begun again, and
 * a prompt of which nothing was heard is given once more. One that was begun is not: nobody wants it done twice.
 */
export function createPrompting(agent: {
  title(): string
  /** Rejects when the agent does not take it, or cannot go on. */
  say(text: string, images: readonly Image[]): Promise<TurnEnd>
  /** Whether the agent itself has ended. */
  isCut(): boolean
  /** How the turn ends with the agent. */
  end(): Promise<LostEnd>
  /** Whether its conversation is gone. */
  isGone(): Promise<boolean>
  /** Resolves to whether it has the conversation again. */
  openAgain(): Promise<boolean>
  tellAgain(): void
}) {
  let isCancelled = false
  let wasHeard = false

  const endWith = async (error: unknown): Promise<LostEnd> =>
    agent.isCut() ? agent.end() : { reason: 'failed', error: isSignedOut(error) ? signInFirst(agent.title()) : explain(error) }

  return {
    /** Something of the turn was told. */
    hear(): void {
      wasHeard = true
    },
    cancel(): void {
      isCancelled = true
    },
    /** Resolves when its turn is over. */
    async run(text: string, images: readonly Image[]): Promise<LostEnd> {
      isCancelled = false
      wasHeard = false
      try {
        return await agent.say(text, images)
      } catch (error) {
        if (agent.isCut() || !(isGone(error) || (await agent.isGone()))) return endWith(error)
      }
      if (!(await agent.openAgain())) return agent.end()
      if (isCancelled) return { reason: 'cancelled', isLost: wasHeard }
      const title = agent.title()
      if (wasHeard) {
        return { reason: 'failed', error: `${title} ended by itself in the middle of this. It runs again: say how to go on.`, isLost: true }
      }
      agent.tellAgain()
      return agent.say(text, images).catch(endWith)
    }
  }
}
