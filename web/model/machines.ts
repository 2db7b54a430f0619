import { flavorOf, isOfHappy } from '../../lib/client/happy/wrappers.ts'
import type { Choice } from '../../lib/protocol/sealed/session.ts'
import { words } from '../words/index.ts'
import { clockTime } from '../words/time.ts'
import { lastMovedAt } from './sessions.ts'
import type { Home, MachineView, SessionView } from './store.ts'

/** Running and ended sessions of a machine, newest first. */
export function sessionsOn(machine: Pick<MachineView, 'id'>, { sessions }: Pick<Home, 'sessions'>): SessionView[] {
  return [...sessions.values()].filter(({ metadata }) => metadata?.machineId === machine.id).sort((a, b) => lastMovedAt(b) - lastMovedAt(a))
}

/** The models of an agent on a machine, as its latest session there reported them. */
export function modelsOf(machine: Pick<MachineView, 'id'>, agent: string, home: Pick<Home, 'sessions'>): readonly Choice[] {
  const named = sessionsOn(machine, home).find(
    ({ metadata }) => metadata !== undefined && flavorOf(metadata) === agent && (metadata.models ?? []).length > 0
  )
  return named?.metadata?.models ?? []
}

/**
 * A machine is online while any of its connections is alive. Only one with a permanent daemon can be reported offline; others are silent
 * whenever no agent runs there.
 */
export function stateOfMachine(machine: MachineView, home: Pick<Home, 'sessions'>): 'online' | 'idle' | 'away' {
  if (machine.isActive || hasDaemon(machine) || sessionsOn(machine, home).some(session => session.isActive)) return 'online'
  return machine.daemonState ? 'away' : 'idle'
}

/** Whether its daemon is online to start, resume and end sessions for a phone. */
export function hasDaemon({ isActive, activeAt, daemonState }: Pick<MachineView, 'isActive' | 'activeAt' | 'daemonState'>): boolean {
  if (daemonState?.status !== 'running') return false
  // A live event arrives before the server's lists; if the daemon had left again, a later event would say so.
  return isActive || (daemonState.startedAt ?? 0) > activeAt
}

/** When its daemon shut down cleanly, in ms since 1970; undefined if it runs or disappeared. */
export function stoppedAt({ daemonState }: Pick<MachineView, 'daemonState'>): number | undefined {
  return daemonState?.status === 'running' ? undefined : daemonState?.shutdownRequestedAt
}

/** Since when a machine is offline, and which part of it. */
export function machineAwaySince(machine: MachineView, now: number): string {
  const stopped = stoppedAt(machine)
  return stopped === undefined
    ? words.machines.sinceAway(clockTime(machine.activeAt, now))
    : words.machines.daemonStopped(clockTime(stopped, now))
}

/** False if it has Happy's daemon, or cannot be decrypted here. */
export function isOurs({ metadata }: Pick<MachineView, 'metadata'>): boolean {
  return metadata !== undefined && !isOfHappy(metadata)
}

export function nameOfMachine({ metadata }: Pick<MachineView, 'metadata'>): string {
  return metadata ? (metadata.displayName ?? metadata.host) : words.machines.sealed
}

/** "linux" and others in their usual spelling. */
export function systemName(platform: string): string {
  return systems[platform] ?? platform
}

const systems: Record<string, string> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows', freebsd: 'FreeBSD' }
