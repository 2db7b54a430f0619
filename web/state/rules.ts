import { CallFailed, callMachine } from '../../lib/client/index.ts'
import type { ApprovalRule, RuleDraft, RulePattern, RuleTrial } from '../../lib/protocol/sealed/rules.ts'
import type { Live } from './live.ts'

type Link = Pick<Live, 'socket' | 'cipherOfMachine'>

/** What a machine does without asking. */
export interface MachineRules {
  readonly rules: readonly ApprovalRule[]
  readonly isPaused: boolean
}

/** The rules of one machine, kept and followed there; each call rejects with `CallFailed`, whose message may be the machine's own. */
export interface RuleBook {
  read(): Promise<MachineRules>
  /** With the id of a rule it changes that one. */
  set(rule: RuleDraft & { id?: string | undefined }, madeBy: string | undefined): Promise<void>
  remove(id: string): Promise<void>
  pause(isPaused: boolean): Promise<void>
  attempt(pattern: RulePattern): Promise<RuleTrial>
}

export function rulesOf({ socket, cipherOfMachine }: Link, machine: string): RuleBook {
  const cipher = () => {
    const found = cipherOfMachine(machine)
    if (!found) throw new CallFailed('unreadable', '')
    return found
  }
  return {
    read: async () => callMachine(socket, cipher(), machine, 'rules', {}),
    set: async (rule, madeBy) => {
      await callMachine(socket, cipher(), machine, 'rules-set', { rule, ...(madeBy !== undefined && { madeBy }) })
    },
    remove: async id => {
      await callMachine(socket, cipher(), machine, 'rules-remove', { id })
    },
    pause: async isPaused => {
      await callMachine(socket, cipher(), machine, 'rules-pause', { isPaused })
    },
    attempt: async pattern => callMachine(socket, cipher(), machine, 'rules-try', pattern)
  }
}
