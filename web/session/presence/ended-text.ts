import type { SessionFacts } from '../../model/session/facts.ts'
import { session as words } from '../../words/session.ts'

/** How an agent ended. `at`: when, in words. */
export function endedText({ agentEnd: { code = 0, signal } = {} }: Pick<SessionFacts, 'agentEnd'>, at: string): string {
  // The system kills processes this way when it is out of memory; a shell reports 128 plus the number of the signal.
  if (signal === 'SIGKILL' || code === 137) return words.endedMemory(at)
  if (signal !== undefined) return words.endedBy(signal, at)
  return code === 0 ? words.endedHint(at) : words.endedExit(code, at)
}
