import type { Envelope } from '../../protocol/sealed/messages.ts'
import type { Prompt, Prompts } from './prompts.ts'
import type { Settling } from './settling.ts'

/** How what devices say begins to wait, also when it came too late for the message whose words it was to replace. */
export interface Offering {
  /** One that waits by itself. To bring forward what is not waiting any more, or to replace it by the same words, would say it twice. */
  offer(prompt: Omit<Prompt, 'attachments'>, isKnown?: boolean): void
  /** The agent has it as it was first: what replaced its words since is said to it now. */
  offerLate(prompt: Prompt): void
  /** What devices tell beside texts. */
  hearBeside(envelope: Envelope | undefined): void
}

export function createOffering(prompts: Prompts, settling: Settling): Offering {
  const offer = (prompt: Omit<Prompt, 'attachments'>, isKnown?: boolean) => {
    const { meta, localId, text } = prompt
    const isLate = meta?.replaces !== undefined && !isKnown
    const { replaces = '', steer } = meta ?? {}
    const isSaid = isLate && (steer === true || prompts.isOnItsWay(replaces, text) || settling.hasSaid(replaces, text))
    if (isSaid) settling.drop(prompt)
    else prompts.offer(prompt)
    if (isLate && !isSaid && localId !== null) settling.tellApart(localId)
  }
  return {
    offer,
    offerLate({ edits = [], attachments, ...prompt }) {
      const last = edits.at(-1)
      if (!last) return
      for (const each of attachments) prompts.announce(each)
      offer({ ...prompt, ...last })
    },
    hearBeside(envelope) {
      if (envelope?.role !== 'user') return
      const { ev } = envelope
      if (ev.t === 'file') prompts.announce(ev)
      if (ev.t === 'move') prompts.move(ev.localId, ev.before)
      if (ev.t !== 'withdraw') return
      const withdrawn = prompts.withdraw(ev.localId)
      if (withdrawn) settling.drop(withdrawn)
      else settling.tellIfRead(ev.localId)
    }
  }
}
