import { lastMovedAt } from './sessions.ts'
import type { Home, MachineView, SessionView } from './store.ts'

/** What runs and ran on a machine, the latest first. */
export function sessionsOn(machine: Pick<MachineView, 'id'>, { sessions }: Pick<Home, 'sessions'>): SessionView[] {
  return [...sessions.values()].filter(({ metadata }) => metadata?.machineId === machine.id).sort((a, b) => lastMovedAt(b) - lastMovedAt(a))
}

/**
 * A machine is online while anything of it speaks. Only one with a helper that stays can be missed; of the others nothing is heard whenever
 * no agent runs there.
 */
export function stateOfMachine(machine: MachineView, home: Pick<Home, 'sessions'>): 'online' | 'idle' | 'away' {
  if (machine.isActive || sessionsOn(machine, home).some(session => session.isActive)) return 'online'
  return machine.daemonState ? 'away' : 'idle'
}

/** "linux" and the like as people write them. */
export function systemName(platform: string): string {
  return systems[platform] ?? platform
}

const systems: Record<string, string> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows', freebsd: 'FreeBSD' }
