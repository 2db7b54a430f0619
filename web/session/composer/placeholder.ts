import type { SessionFacts } from '../../model/session/facts.ts'
import { session as words } from '../../words/session.ts'

/** The placeholder: to whom the message goes, and when. */
export function placeholderOf(facts: SessionFacts, isWorking: boolean): string {
  if (facts.canResume) return words.placeholder.resumes
  if (facts.isUnlinked) return words.placeholder.unlinked(facts.host)
  if (facts.presence === 'away') return words.placeholder.away(facts.host)
  if (facts.presence === 'ended') return words.placeholder.quiet
  return isWorking ? words.placeholder.working : words.placeholder.idle(facts.agentShort)
}

/** With one of these, Enter may send. */
export function isMouseDevice(): boolean {
  return matchMedia('(hover: hover) and (pointer: fine)').matches
}
