import { flavorOf } from '../../../lib/client/happy/wrappers.ts'
import type { UsageWindow } from '../../../lib/protocol/sealed/session.ts'
import type { Choices } from '../choices.ts'
import type { Home } from '../store.ts'
import { reachedUntil } from './usage-limit.ts'

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
