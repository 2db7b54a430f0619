import { withDeadline } from '../../async/deadline.ts'
import type { SessionParts } from './parts.ts'
import type { Prompts } from './prompts.ts'
import { type Reason, reasonOf, withReason } from './reasons.ts'
import type { WhyNot } from './requests/requests.ts'
import type { Settling } from './settling.ts'

/** Why a person said no, or stopped the turn at that, on its way to the agent. */
export interface Explaining {
  /** Heard in this turn by an agent that can, else the first thing in the next. Resolves when it is clear which. */
  explain(whyNot: WhyNot, how: { stops: boolean }): Promise<void>
  /** What an earlier process of this session did not come to hand over. */
  sayLeft(): void
  /** Resolves when it is clear whether the turn takes a reason in: until then nothing that waits is handed over. */
  clear(): Promise<void>
}

export interface ExplainingDeps {
  parts: Pick<SessionParts, 'agent' | 'folder' | 'onChange'>
  prompts: Prompts
  settling: Settling
  /** Shows it everywhere. Also of an earlier process: by its local id the server knows whether it has it. */
  show(reason: Reason): void
}

const steerWithinMs = 10_000

export function createExplaining({ parts, prompts, settling, show }: ExplainingDeps): Explaining {
  const { agent, folder } = parts
  const left = folder.notes.reasons ?? []
  let explaining = Promise.resolve()

  const sayFirst = (reason: Reason) => {
    show(reason)
    prompts.offerReason(reason)
    parts.onChange()
  }
  return {
    async explain(whyNot, how) {
      if (!how.stops && agent.hearsReasons) return
      const reason = reasonOf(whyNot, how)
      folder.note(withReason(folder.notes, reason))
      if (how.stops) return sayFirst(reason)
      const steered = withDeadline(steerWithinMs, async () => agent.steer?.(whyNot.reason)).catch(() => false)
      explaining = steered.then(isHeard => (isHeard ? settling.drop(reason) : sayFirst(reason)))
      await explaining
    },
    sayLeft() {
      for (const reason of left) if (folder.notes.reasons?.includes(reason)) sayFirst(reason)
    },
    clear: () => explaining
  }
}
