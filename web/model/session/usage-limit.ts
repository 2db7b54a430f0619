import { flavorOf } from '../../../lib/client/happy/wrappers.ts'
import type { UsageWindow } from '../../../lib/protocol/sealed/session.ts'
import type { Choices } from '../choices.ts'
import { limitEnd } from '../outbox/continuations.ts'
import type { Home } from '../store.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { SessionFacts } from './facts.ts'

/** Until when the agent may do nothing; undefined when it may. Happy's wrapper says it in the transcript, ours in the facts. */
export function limitedUntil(transcript: Transcript, { windows }: Pick<SessionFacts, 'windows'>, at: number): number | undefined {
  return reachedUntil(windows, at) ?? limitEnd(transcript, at)
}

function reachedUntil(windows: readonly UsageWindow[], at: number): number | undefined {
  const ends = windows.flatMap(({ isReached, resetsAt }) => (isReached && resetsAt !== undefined && resetsAt > at ? resetsAt : []))
  return ends.length === 0 ? undefined : Math.max(...ends)
}

/** What was told of windows that have ended says nothing of those that came after. */
export function openWindows(windows: readonly UsageWindow[], at: number): UsageWindow[] {
  return windows.filter(({ resetsAt }) => resetsAt === undefined || resetsAt > at)
}

/** The agents on its machine that may be asked meanwhile: signed in as far as is known, and not known to be at a limit of their own. */
export function freeAgents(agents: Choices['agents'], session: string, home: Pick<Home, 'sessions'>, at: number): Choices['agents'] {
  const own = home.sessions.get(session)?.metadata
  const limited = [...home.sessions.values()].flatMap(({ metadata }) => {
    const isThere = metadata?.machineId === own?.machineId && reachedUntil(metadata?.usageWindows ?? [], at) !== undefined
    return metadata && isThere ? flavorOf(metadata) : []
  })
  const busy = new Set([...limited, flavorOf(own ?? {})])
  return agents.filter(({ agent, isSignedIn }) => isSignedIn !== false && !busy.has(agent) && agent !== 'demo')
}
