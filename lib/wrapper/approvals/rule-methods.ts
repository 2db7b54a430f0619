import type { MachineHandlers } from '../../client/calls/machine-calls.ts'
import type { DecisionEntry, RulePattern, RuleTrial, ruleCalls } from '../../protocol/sealed/rules.ts'
import { openDecisionLog } from './decision-log.ts'
import { allowing, faultOf } from './patterns.ts'
import type { Request } from './request.ts'
import { openRules } from './rules.ts'

/** What a phone may see and change of the rules of this computer: the daemon answers, and each session for want of one. */
export function ruleMethods(home: string): Pick<MachineHandlers, keyof typeof ruleCalls> {
  const book = openRules(home)
  return {
    rules: () => {
      const { rules, isPaused } = book.read()
      return { rules: [...rules], isPaused }
    },
    'rules-set': ({ rule, madeBy }) => ({ rule: book.set(rule, madeBy) }),
    'rules-remove': ({ id }) => {
      book.remove(id)
      return {}
    },
    'rules-pause': ({ isPaused }) => {
      book.pause(isPaused)
      return { isPaused }
    },
    'rules-try': pattern => tryRule(home, pattern),
    decisions: ({ device }) => ({ entries: madeOn(home, device) })
  }
}

const mostTold = 100
/** In characters: enough to know what it was about, in a list. */
const longestTold = 300

function madeOn(home: string, device: string): DecisionEntry[] {
  const made = openDecisionLog(home)
    .read()
    .filter(entry => entry.device === device)
  return made.slice(0, mostTold).map(entry => ({ ...entry, what: entry.what.slice(0, longestTold), paths: [] }))
}

const mostTried = 50

/** Over the last decisions of its kind. Throws, with a sentence for a person, when it can be no rule. */
function tryRule(home: string, pattern: RulePattern): RuleTrial {
  const fault = faultOf(pattern)
  if (fault !== undefined) throw new Error(fault)
  const asked = openDecisionLog(home)
    .read()
    .filter(({ on }) => on === pattern.on)
    .slice(0, mostTried)
  const passed = asked.filter(entry => entry.level !== 'risky' && allowing([pattern], requestIn(entry), home))
  return { looked: asked.length, passed: passed.length, entries: passed.map(({ at, what, answer }) => ({ at, what, answer })) }
}

function requestIn({ on, tool, what, folder, paths, isOdd }: DecisionEntry): Request {
  const isFile = on === 'change' || on === 'read'
  return {
    on,
    tool,
    command: on === 'command' ? what : undefined,
    url: on === 'page' ? what : undefined,
    paths: isFile ? paths : [],
    folder,
    directory: undefined,
    isOdd
  }
}
