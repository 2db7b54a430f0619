import type { CurrentEvent } from '../../../../lib/client/happy/messages.ts'
import type { PlanEntry, StepContent, StepStatus, Usage } from '../../../../lib/protocol/sealed/messages.ts'
import type { SealFault } from '../../../../lib/protocol/sealed/sealed-for.ts'
import { type Attached, attachedOf } from '../../session/attachment.ts'
import type { Mine, Step } from '../items.ts'
import { contentOfArgs, kindOf, locationsOfArgs } from '../steps.ts'

interface Common {
  /** When it happened by the sender's clock, ms since 1970; the message's own time if absent. */
  readonly time?: number | undefined
  readonly turn?: string | undefined
  readonly subagent?: string | undefined
}

/** One event of a message, as input for the transcript. */
export type TranscriptEvent = Common &
  (
    | {
        readonly type: 'mine'
        readonly text: string
        readonly from: Mine['from']
        readonly isSteer?: boolean
        readonly replaces?: string | undefined
      }
    | { readonly type: 'withdrawn' | 'read' | 'apart'; readonly localId: string }
    | { readonly type: 'moved'; readonly localId: string; readonly before: string }
    | {
        readonly type: 'text'
        readonly text: string
        readonly thinking: boolean
        readonly block: string | undefined
        readonly isCut?: boolean
      }
    | StepStarted
    | {
        readonly type: 'step-ended'
        readonly call: string
        readonly status: StepStatus | undefined
        readonly content: readonly StepContent[]
      }
    | { readonly type: 'plan'; readonly entries: PlanEntry[] }
    | { readonly type: 'file'; readonly file: Attached; readonly mine: boolean }
    | { readonly type: 'turn-started' }
    | { readonly type: 'turn-ended'; readonly status: 'completed' | 'failed' | 'cancelled' }
    | { readonly type: 'usage'; readonly usage: Usage }
    | { readonly type: 'note'; readonly text: string }
    | { readonly type: 'fault'; readonly fault: SealFault['type']; readonly count: number }
    | { readonly type: 'limit'; readonly endsAt: number | undefined }
    | { readonly type: 'control'; readonly to: 'terminal' | 'app' }
    | { readonly type: 'subagent-started'; readonly title: string | undefined }
    | { readonly type: 'subagent-stopped' }
    | { readonly type: 'skipped'; readonly why: 'unreadable' | 'unknown-shape' }
  )

interface StepStarted extends Pick<Step, 'call' | 'kind' | 'name' | 'title' | 'description' | 'args' | 'locations' | 'content'> {
  readonly type: 'step-started'
}

export function transcriptEventsOf(event: CurrentEvent): TranscriptEvent[] {
  const { time, turn, subagent, ev } = event
  const common: Common = { time, turn, subagent }
  const converted = transcriptEventOf(event)
  const found: TranscriptEvent[] = converted === undefined ? [] : [{ ...converted, ...common }]
  if (event.usage !== undefined) found.push({ type: 'usage', usage: event.usage })
  return ev.t === 'service' && ev.text.trim() === '' ? found.filter(each => each.type === 'usage') : found
}

function transcriptEventOf(event: CurrentEvent): TranscriptEvent | undefined {
  const { ev, role, subagent } = event
  switch (ev.t) {
    case 'text':
      if (role === 'user') return { type: 'mine', text: ev.text, from: 'terminal' }
      return { type: 'text', text: ev.text, thinking: ev.thinking ?? false, block: event.id, ...(ev.cut && { isCut: true }) }
    case 'service':
      return ev.fault ? { type: 'fault', fault: ev.fault.type, count: ev.fault.count } : { type: 'note', text: ev.text }
    case 'tool-call-start': {
      const content = ev.content ?? []
      return {
        type: 'step-started',
        call: ev.call,
        kind: ev.kind ?? kindOf(ev.name),
        name: ev.name,
        title: ev.title,
        description: ev.description,
        args: ev.args,
        locations: ev.locations ?? locationsOfArgs(ev.args),
        content: content.some(each => each.type === 'diff') ? content : [...contentOfArgs(ev.name, ev.args), ...content]
      }
    }
    case 'tool-call-end':
      return { type: 'step-ended', call: ev.call, status: ev.status, content: ev.content ?? [] }
    case 'file':
      return { type: 'file', file: attachedOf(ev), mine: role === 'user' }
    case 'turn-start':
      return { type: 'turn-started' }
    case 'turn-end':
      return { type: 'turn-ended', status: ev.status }
    case 'start':
      return subagent === undefined ? undefined : { type: 'subagent-started', title: ev.title }
    case 'stop':
      return subagent === undefined ? undefined : { type: 'subagent-stopped' }
    case 'plan':
      return { type: 'plan', entries: ev.entries }
    case 'limit':
      return { type: 'limit', endsAt: ev.endsAt }
    case 'control':
      return { type: 'control', to: ev.to }
    case 'withdraw':
      return role === 'user' ? { type: 'withdrawn', localId: ev.localId } : undefined
    case 'move':
      return role === 'user' ? { type: 'moved', localId: ev.localId, before: ev.before } : undefined
    case 'read':
    case 'apart':
      return role === 'agent' ? { type: ev.t, localId: ev.localId } : undefined
  }
}
