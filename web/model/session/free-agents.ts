import { flavorOf } from '../../../lib/client/happy/wrappers.ts'
import type { UsageWindow } from '../../../lib/protocol/sealed/session.ts'
import type { Choices } from '../machine-choices.ts'
import type { Home } from '../store.ts'
import { reachedUntil } from './usage-limit.ts'

/** Reports about windows that have ended say nothing about later ones. */
export function openWindows(windows: readonly UsageWindow[], at: number): UsageWindow[] {
  return windows.filter(({ resetsAt }) => resetsAt === undefined || resetsAt > at)
}

/** The agents on its machine that can be used meanwhile: signed in as far as known, and not known to be at their own limit. */
export function freeAgents(agents: Choices['agents'], session: string, home: Pick<Home, 'sessions'>, at: number): Choices['agents'] {
  const own = home.sessions.get(session)?.metadata
  const limited = [...home.sessions.values()].flatMap(({ metadata }) => {
    const isThere = metadata?.machineId === own?.machineId && reachedUntil(metadata?.usageWindows ?? [], at) !== undefined
    return metadata && isThere ? flavorOf(metadata) : []
  })
  const busy = new Set([...limited, flavorOf(own ?? {})])
  return agents.filter(({ agent, isSignedIn }) => isSignedIn !== false && !busy.has(agent) && agent !== 'demo')
}
