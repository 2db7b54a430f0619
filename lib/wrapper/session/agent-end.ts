import { constants } from 'node:os'
import type { AgentEnd } from '../../protocol/sealed/session.ts'

/** How an agent ended, for the phone; undefined if no process ended. `how`: in the words of a process or a terminal. */
export function agentEndOf(how: string): AgentEnd | undefined {
  const [, code, name, number] = /^(?:exit code (-?\d+)|killed by (SIG[A-Z\d]+)|signal (\d+))$/.exec(how) ?? []
  if (code !== undefined) return { code: Number(code) }
  const signal = name ?? Object.entries(constants.signals).find(([, each]) => each === Number(number))?.[0]
  return signal === undefined ? undefined : { signal }
}
