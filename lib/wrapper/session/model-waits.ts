import { type Clock, systemClock } from '../../async/clock.ts'
import type { AgentState, ModelWait } from '../../protocol/sealed/session.ts'
import type { AgentEvent } from '../agents/agent.ts'

/** Tells devices that an agent is working but its model is silent, and the reason if the agent reports one. */
export interface ModelWaits {
  /** Set while that is the case. */
  readonly current: ModelWait | undefined
  turnBegan(): void
  turnEnded(): void
  hear(event: AgentEvent): void
}

const silentAfterMs = 30_000

export function createModelWaits({
  publish,
  onChange,
  clock = systemClock,
  now = Date.now
}: {
  publish(change: (state: AgentState) => AgentState): void
  onChange(): void
  clock?: Clock
  /** In ms since 1970. */
  now?: () => number
}): ModelWaits {
  let current: ModelWait | undefined
  let isRunning = false
  let heardAt = 0
  let stopTimer = () => {}
  /** The model may refuse a prompt before its receipt was read here; the turn has begun then. */
  let early: ModelWait['retry']
  const openSteps = new Set<string>()

  const show = (wait: ModelWait | undefined) => {
    if (wait === undefined && current === undefined) return
    current = wait
    publish(state => ({ ...state, modelWait: wait }))
    onChange()
  }
  const listen = () => {
    heardAt = now()
    stopTimer()
    // A step may take any time.
    if (openSteps.size === 0) stopTimer = clock.after(silentAfterMs, () => show({ since: heardAt }))
  }
  const retry = (retry: ModelWait['retry']) => {
    stopTimer()
    show({ since: heardAt, retry })
  }
  const end = () => {
    isRunning = false
    early = undefined
    openSteps.clear()
    stopTimer()
    show(undefined)
  }

  return {
    get current() {
      return current
    },
    turnBegan() {
      isRunning = true
      listen()
      if (early) retry(early)
      early = undefined
    },
    turnEnded: end,
    hear(event) {
      if (event.type === 'retrying') {
        const { attempt, of, inMs, why } = event
        const next = { attempt, of, at: now() + inMs, inMs, why }
        if (isRunning) retry(next)
        else early = next
        return
      }
      if (!isLife.has(event.type)) return
      early = undefined
      if (!isRunning) return
      if (event.type === 'step-started') openSteps.add(event.step.call)
      if (event.type === 'step-ended') openSteps.delete(event.step.call)
      show(undefined)
      listen()
      // Now it waits for a person.
      if (event.type === 'permission-asked' || event.type === 'question-asked') stopTimer()
    }
  }
}

const isLife = new Set<AgentEvent['type']>([
  'text-grew',
  'text',
  'step-started',
  'step-updated',
  'step-ended',
  'subagent-started',
  'subagent-stopped',
  'plan',
  'picture',
  'permission-asked',
  'permission-closed',
  'question-asked',
  'question-closed',
  'usage',
  'notice'
])
