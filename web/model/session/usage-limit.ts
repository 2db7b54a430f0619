import type { UsageWindow } from '../../../lib/protocol/sealed/session.ts'
import { limitEnd } from '../outbox/continuations.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { SessionFacts } from './facts.ts'

/** Until when the agent is paused by its limit; undefined if it is not. Happy's wrapper reports it in the transcript, ours in the facts. */
export function limitedUntil(transcript: Transcript, { windows }: Pick<SessionFacts, 'windows'>, at: number): number | undefined {
  return reachedUntil(windows, at) ?? limitEnd(transcript, at)
}

export function reachedUntil(windows: readonly UsageWindow[], at: number): number | undefined {
  const ends = windows.flatMap(({ isReached, resetsAt }) => (isReached && resetsAt !== undefined && resetsAt > at ? resetsAt : []))
  return ends.length === 0 ? undefined : Math.max(...ends)
}
