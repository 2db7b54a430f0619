import type { StepStatus } from '../../../protocol/sealed/messages.ts'
import type { AgentEvent, Step } from '../agent.ts'
import { isOurMessage } from './message-id.ts'
import type { History, Message, Part, ToolPart } from './shapes.ts'
import { planOf, stepOf } from './steps.ts'

/** The messages of one conversation, told part by part in the order in which opencode keeps them. */
export interface Telling {
  message(info: Message): void
  part(part: Part): void
  /** A text grew by this. */
  delta(about: { messageID: string; partID: string }, text: string): void
  /** What comes before the step is told, and the step. Undefined when it is not known. */
  beginStep(call: { messageID: string; callID: string }): Step | undefined
  hasStep(callID: string): boolean
  /** A person said no to it. */
  deny(callID: string): void
  /** Whether a message of the model is not whole yet. */
  readonly isOpen: boolean
  /** The last message of the model. */
  readonly last: Message | undefined
  /** The answer broke off: a person stopped it, or its model failed. What is being said is told as broken off once opencode has put it down. */
  breakOff(): void
  /** Nothing comes any more: what is not whole is told as far as it came; as cut off, when opencode is gone and does not have it. */
  cut(isLost?: boolean): void
}

interface KnownPart {
  part: Part
  hasBegun: boolean
  isTold: boolean
}

interface KnownMessage {
  info: Message | undefined
  parts: Map<string, KnownPart>
}

interface Advancing {
  isCut?: boolean
  isLost?: boolean
  upTo?: string
}

/**
 * A text is told when it is whole, and what follows it waits for that: opencode tells of a step before the text in front
 * of it has ended. `subagent` names the helper whose conversation it is; what it was asked is nothing a person said.
 */
export function createTelling({ emit, subagent }: { emit(event: AgentEvent): void; subagent?: string }): Telling {
  const messages = new Map<string, KnownMessage>()
  const finished = new Set<string>()
  const denied = new Set<string>()
  const helped = subagent === undefined ? {} : { subagent }
  let last: KnownMessage | undefined
  let hasBrokenOff = false

  const known = (id: string): KnownMessage => {
    const message = messages.get(id) ?? { info: undefined, parts: new Map() }
    messages.set(id, message)
    return message
  }

  const stepIn = ({ parts }: KnownMessage, callID: string): ToolPart | undefined => {
    for (const { part } of parts.values()) if (part.type === 'tool' && part.callID === callID) return part
    return undefined
  }

  const tellPrompt = (entry: KnownPart) => {
    const { part } = entry
    if (entry.isTold || part.type === 'tool') return
    if (part.type === 'text' && (part.synthetic || part.ignored || part.text === '')) return
    entry.isTold = true
    if (subagent !== undefined || part.type === 'reasoning') return
    const text = part.type === 'text' ? part.text : `[${part.filename ?? part.mime}]`
    emit({ type: 'prompted', text, isOurs: isOurMessage(part.messageID), row: part.id })
  }

  const tellText = (entry: KnownPart, { isLost, isStopped }: { isLost: boolean; isStopped: boolean }) => {
    const { part } = entry
    if (part.type !== 'text' && part.type !== 'reasoning') return
    entry.isTold = true
    const { id, text, type } = part
    if (text.trim() === '') return
    const isCut = isLost && part.time?.end === undefined
    // Should opencode have it whole after all, that is another text.
    const named = isCut ? { isCut, row: `${id} cut` } : { row: id, ...(isStopped && { isStopped }) }
    emit({ type: 'text', block: id, text, thinking: type === 'reasoning', ...named, ...helped })
  }

  const tellTool = (entry: KnownPart, part: ToolPart, isCut: boolean) => {
    const end = endOf(part, denied) ?? (isCut ? 'cancelled' : undefined)
    const entries = planOf(part)
    if (entries) {
      entry.isTold = end !== undefined
      if (end === 'completed') emit({ type: 'plan', entries, row: part.id })
      return
    }
    // Its arguments are still being written.
    if (part.state.status === 'pending' && !isCut) return
    const step = stepOf(part)
    if (!entry.hasBegun) emit({ type: 'step-started', step, row: `${part.id} begins`, ...helped })
    else if (end === undefined) emit({ type: 'step-updated', step })
    entry.hasBegun = true
    entry.isTold = end !== undefined
    if (end !== undefined) emit({ type: 'step-ended', step, status: end, row: `${part.id} ends`, ...helped })
  }

  /** Tells what can be told in order; all of it when nothing more comes. */
  const advance = ({ info, parts }: KnownMessage, { isCut = false, isLost = false, upTo }: Advancing = {}) => {
    let isForced = isCut || upTo !== undefined
    const brokenOff = hasBrokenOff || info?.error ? [...parts.keys()].at(-1) : undefined
    for (const [id, entry] of parts) {
      const { part } = entry
      if (info?.role === 'user') tellPrompt(entry)
      else if (entry.isTold) continue
      else if (part.type === 'tool') tellTool(entry, part, isCut)
      else if (part.type !== 'file') {
        if (!isForced && part.time?.end === undefined) return
        tellText(entry, { isLost, isStopped: id === brokenOff })
      }
      if (id === upTo) isForced = isCut
    }
  }

  return {
    get isOpen() {
      return last?.info !== undefined && last.info.time.completed === undefined
    },
    get last() {
      return last?.info
    },
    message(info) {
      if (finished.has(info.id)) return
      const message = known(info.id)
      message.info = info
      if (info.role === 'assistant') last = message
      advance(message, { isCut: info.time.completed !== undefined })
    },
    part(part) {
      if (finished.has(part.messageID)) return
      const message = known(part.messageID)
      const entry = message.parts.get(part.id)
      if (entry) entry.part = part
      else message.parts.set(part.id, { part, hasBegun: false, isTold: false })
      if (message.info) advance(message, { isCut: message.info.time.completed !== undefined })
    },
    delta({ messageID, partID }, text) {
      const entry = messages.get(messageID)?.parts.get(partID)
      if (!entry || entry.isTold || (entry.part.type !== 'text' && entry.part.type !== 'reasoning')) return
      entry.part = { ...entry.part, text: entry.part.text + text }
      const { id, text: whole, type } = entry.part
      if (subagent === undefined) emit({ type: 'text-grew', block: id, text: whole, thinking: type === 'reasoning' })
    },
    beginStep({ messageID, callID }) {
      const message = messages.get(messageID)
      const part = message && stepIn(message, callID)
      if (!message || !part) return undefined
      advance(message, { upTo: part.id })
      return stepOf(part)
    },
    hasStep: callID => [...messages.values()].some(message => stepIn(message, callID) !== undefined),
    deny: callID => void denied.add(callID),
    breakOff() {
      hasBrokenOff = true
    },
    cut(isLost = false) {
      for (const [id, message] of messages) {
        advance(message, { isCut: true, isLost })
        finished.add(id)
      }
      messages.clear()
      denied.clear()
      last = undefined
      hasBrokenOff = false
    }
  }
}

/** How it ended; undefined while it goes on. */
function endOf({ callID, state }: ToolPart, denied: ReadonlySet<string>): StepStatus | undefined {
  if (state.status === 'completed') return 'completed'
  if (state.status !== 'error') return undefined
  if (denied.has(callID) || isRejected(state)) return 'denied'
  return state.metadata?.['interrupted'] === true || state.error === 'Tool execution aborted' ? 'cancelled' : 'failed'
}

/** What a person answered to a step that is asked about no more; undefined when that cannot be seen in what became of it. */
export function wasAllowed(call: string, history: History): boolean | undefined {
  const part = history.flatMap(({ parts }) => parts).findLast(part => part?.type === 'tool' && part.callID === call)
  if (part?.type !== 'tool') return undefined
  if (part.state.status === 'error') return isRejected(part.state) ? false : undefined
  return true
}

/** Somebody said no to it. */
function isRejected({ status, error }: ToolPart['state']): boolean {
  return status === 'error' && /rejected permission|dismissed this question/.test(error ?? '')
}

/** A no ends the turn, but for one with a reason. */
export function endsTurn(state: ToolPart['state']): boolean {
  return isRejected(state) && !/with the following feedback/.test(state.error ?? '')
}
