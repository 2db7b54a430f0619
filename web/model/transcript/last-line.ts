import type { MessageBody, PlanEntry } from '../../../lib/protocol/sealed/messages.ts'
import { firstLine, shortened } from '../../../lib/protocol/sealed/plain-line.ts'
import { words } from '../../words/index.ts'
import type { LastLine } from '../store.ts'
import type { TranscriptEvent } from './fold/events.ts'
import { transcriptEvents } from './message.ts'
import { planOfArgs } from './steps.ts'

/** The line of a message in a row; undefined if it means nothing to a person on its own. */
export function lineOf(body: MessageBody): Line | undefined {
  const lines = transcriptEvents({ seq: 0, localId: null, at: 0, body }).map(lineOfEvent)
  return lines.findLast(line => line !== undefined)
}

/** The steps that a message ends; those that were denied or interrupted have not run. */
export function endedIn(body: MessageBody): { call: string; hasRun: boolean }[] {
  return transcriptEvents({ seq: 0, localId: null, at: 0, body }).flatMap(each =>
    each.type === 'step-ended' ? [{ call: each.call, hasRun: each.status !== 'denied' && each.status !== 'cancelled' }] : []
  )
}

type Line = Pick<LastLine, 'text' | 'end' | 'command'>

function lineOfEvent(event: TranscriptEvent): Line | undefined {
  // Text of a subagent belongs to its own trail.
  if (event.subagent !== undefined) return undefined
  switch (event.type) {
    case 'mine':
      return { text: words.session.you(oneLine(event.text)) }
    case 'text':
      return event.thinking ? undefined : { text: oneLine(event.text) }
    case 'step-started': {
      const plan = planOfArgs(event.name, event.args)
      if (plan !== undefined) return lineOfPlan(plan)
      return {
        text: oneLine(event.title || event.name),
        ...(event.kind === 'execute' && { command: { call: event.call, hasRun: false } })
      }
    }
    case 'plan':
      return lineOfPlan(event.entries)
    case 'file':
      return { text: words.session.file(event.file.name) }
    case 'note':
      return event.text.trim() === '' ? undefined : { text: oneLine(event.text) }
    case 'limit':
      return { text: words.session.limit, end: 'failed' }
    case 'turn-ended':
      return event.status === 'completed' ? undefined : { text: words.session[event.status], end: event.status }
    default:
      return undefined
  }
}

function lineOfPlan(entries: readonly PlanEntry[]): Line {
  return { text: words.session.planned(entries.filter(({ status }) => status === 'completed').length, entries.length) }
}

// A row has space for one line.
function oneLine(text: string): string {
  return shortened(firstLine(text), longest)
}

const longest = 200
