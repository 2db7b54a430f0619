import type { MessageBody, PlanEntry } from '../../../lib/protocol/sealed/messages.ts'
import { firstLine, shortened } from '../../../lib/protocol/sealed/plain-line.ts'
import { words } from '../../words/index.ts'
import type { LastLine } from '../store.ts'
import type { Happening } from './fold/events.ts'
import { happeningsOf } from './message.ts'
import { planOfArgs } from './steps.ts'

/** The line of a message in a row; undefined if it means nothing to a person on its own. */
export function lineOf(body: MessageBody): Told | undefined {
  const told = happeningsOf({ seq: 0, localId: null, at: 0, body }).map(lineOfHappening)
  return told.findLast(line => line !== undefined)
}

/** The steps that a message ends; those that were denied or interrupted have not run. */
export function endedIn(body: MessageBody): { call: string; hasRun: boolean }[] {
  return happeningsOf({ seq: 0, localId: null, at: 0, body }).flatMap(each =>
    each.type === 'step-ended' ? [{ call: each.call, hasRun: each.status !== 'denied' && each.status !== 'cancelled' }] : []
  )
}

type Told = Pick<LastLine, 'text' | 'end' | 'command'>

function lineOfHappening(happening: Happening): Told | undefined {
  // Text of a subagent belongs to its own trail.
  if (happening.subagent !== undefined) return undefined
  switch (happening.type) {
    case 'mine':
      return { text: words.session.you(oneLine(happening.text)) }
    case 'text':
      return happening.thinking ? undefined : { text: oneLine(happening.text) }
    case 'step-started': {
      const plan = planOfArgs(happening.name, happening.args)
      if (plan !== undefined) return lineOfPlan(plan)
      return {
        text: oneLine(happening.title || happening.name),
        ...(happening.kind === 'execute' && { command: { call: happening.call, hasRun: false } })
      }
    }
    case 'plan':
      return lineOfPlan(happening.entries)
    case 'file':
      return { text: words.session.file(happening.file.name) }
    case 'note':
      return happening.text.trim() === '' ? undefined : { text: oneLine(happening.text) }
    case 'limit':
      return { text: words.session.limit, end: 'failed' }
    case 'turn-ended':
      return happening.status === 'completed' ? undefined : { text: words.session[happening.status], end: happening.status }
    default:
      return undefined
  }
}

function lineOfPlan(entries: readonly PlanEntry[]): Told {
  return { text: words.session.planned(entries.filter(({ status }) => status === 'completed').length, entries.length) }
}

// A row has space for one line.
function oneLine(text: string): string {
  return shortened(firstLine(text), longest)
}

const longest = 200
