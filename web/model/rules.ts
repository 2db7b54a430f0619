import { CallFailed, callMachine } from '../../lib/client/index.ts'
import type { ApprovalRule, RuleDraft, RulePattern, RuleTrial } from '../../lib/protocol/sealed/decisions/rules.ts'
import type { Live } from './account/live.ts'
import { hasDaemon, sessionsOn } from './machines.ts'
import type { Home, MachineView } from './store.ts'

type Link = Pick<Live, 'socket' | 'cipherOf' | 'cipherOfMachine'>

/** The approval rules of a machine. */
export interface MachineRules {
  readonly rules: readonly ApprovalRule[]
  readonly isPaused: boolean
}

/** By machine; a machine that did not answer is `unknown`. */
export type KnownRules = ReadonlyMap<string, MachineRules | 'unknown'>

/** The rules of one machine, stored and applied there; each call rejects with `CallFailed`, whose message may be the machine's own. */
interface RuleBook {
  read(): Promise<MachineRules>
  /** With the id of a rule, changes that one. */
  set(rule: RuleDraft & { id?: string | undefined }, madeBy: string | undefined): Promise<void>
  remove(id: string): Promise<void>
  pause(isPaused: boolean): Promise<void>
  attempt(pattern: RulePattern): Promise<RuleTrial>
}

/** What serves the rules of a machine: its daemon or, without one, a session that runs there. Undefined if there is neither. */
export function keeperOf(machine: MachineView, home: Pick<Home, 'sessions'>): string | undefined {
  if (hasDaemon(machine)) return machine.id
  return sessionsOn(machine, home).find(({ isActive, metadata }) => isActive && metadata?.methods?.includes('rules'))?.id
}

export function rulesOf({ socket, cipherOf, cipherOfMachine }: Link, keeper: string): RuleBook {
  const cipher = () => {
    const found = cipherOfMachine(keeper) ?? cipherOf(keeper)
    if (!found) throw new CallFailed('unreadable', '')
    return found
  }
  // These methods are the same on sessions and machines, so both are called the same way.
  return {
    read: async () => callMachine(socket, cipher(), keeper, 'rules', {}),
    set: async (rule, madeBy) => {
      await callMachine(socket, cipher(), keeper, 'rules-set', { rule, ...(madeBy !== undefined && { madeBy }) })
    },
    remove: async id => {
      await callMachine(socket, cipher(), keeper, 'rules-remove', { id })
    },
    pause: async isPaused => {
      await callMachine(socket, cipher(), keeper, 'rules-pause', { isPaused })
    },
    attempt: async pattern => callMachine(socket, cipher(), keeper, 'rules-try', pattern)
  }
}
