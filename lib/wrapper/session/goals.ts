import { withDeadline } from '../../async/deadline.ts'
import type { AgentGoalStatus } from '../../protocol/sealed/goals.ts'
import type { AgentState } from '../../protocol/sealed/session.ts'
import type { Agent } from '../agents/agent.ts'

/** The agent's goal, shown on devices, which may change it. */
export interface Goals {
  /** The agent reported a goal. */
  take(goal: AgentGoalStatus): void
  /**
   * Resolves once the agent has confirmed the change. Throws, with a sentence, if it has not. `say` starts a turn with a text;
   * it returns false if the agent is working or a prompt is queued.
   */
  change(wish: GoalWish, say: (text: string) => boolean): Promise<void>
}

interface GoalWish {
  action: 'clear' | 'edit' | 'stop'
  objective?: string | undefined
}

// A little less than the server waits for an answer.
const confirmedWithinMs = 28_000

export function createGoals(
  agent: Agent,
  publish: (change: (state: AgentState) => AgentState) => void,
  withinMs: number = confirmedWithinMs
): Goals {
  let goal: AgentGoalStatus | undefined
  let waiting: { isSo(): boolean; resolve(): void } | undefined

  const isActive = () => goal?.status === 'active' && goal.sourceSessionId === agent.conversation
  /** The wish, as it looks after passing through a terminal. */
  const isNow = (objective: string | undefined) =>
    objective === undefined ? !isActive() : isActive() && goal?.status === 'active' && plain(goal.text) === plain(objective)

  return {
    take(reported) {
      if (reported.sourceRevision === goal?.sourceRevision) return
      goal = reported
      publish(state => ({ ...state, agentGoalStatus: reported }))
      if (waiting?.isSo()) waiting.resolve()
    },
    async change({ action, objective }, say) {
      if (!agent.changeGoal) throw new Error('This agent has no goals.')
      if (action === 'stop') throw new Error('A goal can be cleared or edited, not stopped.')
      const wished = action === 'edit' ? objective?.trim() : undefined
      if (action === 'edit' && !wished) throw new Error('Say what the goal should be.')
      if (!isActive()) throw new Error('The agent has no goal now.')
      if (isNow(wished)) return
      if (waiting) throw new Error('The goal is already being changed.')
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting = { isSo: () => isNow(wished), resolve }
      try {
        const text = await agent.changeGoal(wished)
        if (text !== undefined && !say(text)) throw new Error('The agent is working. Stop its turn first, or wait for it to end.')
        await withDeadline(withinMs, () => promise).catch(() => {
          throw new Error('The agent did not confirm the change of its goal.')
        })
      } finally {
        waiting = undefined
      }
    }
  }
}

function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
