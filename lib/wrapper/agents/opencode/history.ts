import { randomBytes } from 'node:crypto'
import type { StepStatus } from '../../../protocol/sealed/messages.ts'
import type { AgentEvent, HistoryPosition, Step, TurnEnd, UnsentHistory } from '../agent.ts'
import type { History, Message, Part, Session, ToolPart } from './shapes.ts'
import { planOf, stepOf } from './steps.ts'

/**
 * What opencode stored of a conversation after a position, which is the time its last sent message began. A
 * turn with a stored end is ended with it.
 */
export function readSince(place: HistoryPosition, history: History): UnsentHistory {
  const events: AgentEvent[] = []
  const translator = createTranslator({ emit: event => events.push(event) })
  let answer = history.findLast(({ info }) => info.role === 'assistant' && info.time.created <= place.offset)
  const endTurn = () => {
    if (answer && isLastOfTurn(answer)) events.push({ type: 'turn-ended', ...turnEndOf(answer.info) })
  }
  for (const entry of history.filter(({ info }) => info.time.created > place.offset)) {
    const { info, parts } = entry
    // Messages before an answer is complete belong to its turn.
    if (info.role === 'user' && info.time.created > (answer?.info.time.completed ?? Number.POSITIVE_INFINITY)) endTurn()
    if (info.role === 'assistant') answer = entry
    for (const part of parts) if (part) translator.part(part)
    translator.message(info)
    translator.cut()
  }
  endTurn()
  return { events, upTo: { file: place.file, offset: history.at(-1)?.info.time.created ?? place.offset } }
}

const mostTurns = 20

/** The last turns of a conversation that was started without Afield, to be sent once. */
export function readPast(conversation: string, history: History): UnsentHistory {
  const prompts = history.filter(({ info }) => info.role === 'user').slice(-mostTurns)
  return readSince({ file: conversation, offset: (prompts[0]?.info.time.created ?? 0) - 1 }, history)
}

/** How the turn with this last model message ended. */
export function turnEndOf({ error }: Pick<Message, 'error'>): TurnEnd {
  if (!error) return { reason: 'done' }
  if (error.name === 'MessageAbortedError') return { reason: 'cancelled' }
  return { reason: 'failed', error: error.data?.message ?? `opencode could not continue (${error.name}).` }
}

/** After one that used a tool, another one follows. */
function isLastOfTurn({ info: { time, error, finish }, parts }: History[number]): boolean {
  if (time.completed === undefined) return false
  return error !== undefined || finish !== 'tool-calls' || parts.some(part => part?.type === 'tool' && endsTurn(part.state))
}

/** The messages of one conversation, sent part by part in the order in which opencode stores them. */
interface Translator {
  message(info: Message): void
  part(part: Part): void
  /** A text grew by this. */
  delta(about: { messageID: string; partID: string }, text: string): void
  /** Sends everything before the step, and the step. Undefined if it is unknown. */
  beginStep(call: { messageID: string; callID: string }): Step | undefined
  hasStep(callID: string): boolean
  /** A person denied it. */
  deny(callID: string): void
  /** Nothing of the message is sent any more. */
  isOver(info: Message): boolean
  /** Whether a message of the model is incomplete. */
  readonly isOpen: boolean
  /** The last message of the model. */
  readonly last: Message | undefined
  /**
   * The answer broke off: a person stopped it, or its model failed. The current text is sent as broken off
   * once opencode has stored it.
   */
  breakOff(): void
  /** Nothing follows: incomplete text is sent as received; as cut off, if opencode is gone and does not have it. */
  cut(isLost?: boolean): void
}

interface KnownPart {
  part: Part
  hasBegun: boolean
  isSent: boolean
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
 * A text is sent when it is complete, and later parts wait for that: opencode reports a step before the
 * text before it has ended. `subagent` names the subagent whose conversation it is; its prompt is not a
 * person's message.
 */
export function createTranslator({ emit, subagent }: { emit(event: AgentEvent): void; subagent?: string }): Translator {
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
    if (entry.isSent || part.type === 'tool') return
    if (part.type === 'text' && (part.synthetic || part.ignored || part.text === '')) return
    entry.isSent = true
    if (subagent !== undefined || part.type === 'reasoning') return
    const text = part.type === 'text' ? part.text : `[${part.filename ?? part.mime}]`
    emit({ type: 'prompted', text, isOurs: isOurMessage(part.messageID), row: part.id })
  }

  const tellText = (entry: KnownPart, { isLost, isStopped }: { isLost: boolean; isStopped: boolean }) => {
    const { part } = entry
    if (part.type !== 'text' && part.type !== 'reasoning') return
    entry.isSent = true
    const { id, text, type } = part
    if (text.trim() === '') return
    const isCut = isLost && part.time?.end === undefined
    // If opencode has the full text after all, that is another text.
    const named = isCut ? { isCut, row: `${id} cut` } : { row: id, ...(isStopped && { isStopped }) }
    emit({ type: 'text', block: id, text, thinking: type === 'reasoning', ...named, ...helped })
  }

  const tellTool = (entry: KnownPart, part: ToolPart, isCut: boolean) => {
    const end = stepEndOf(part, denied) ?? (isCut ? 'cancelled' : undefined)
    const entries = planOf(part)
    if (entries) {
      entry.isSent = end !== undefined
      if (end === 'completed') emit({ type: 'plan', entries, row: part.id })
      return
    }
    // Its arguments are still being written.
    if (part.state.status === 'pending' && !isCut) return
    const step = stepOf(part)
    if (!entry.hasBegun) emit({ type: 'step-started', step, row: `${part.id} begins`, ...helped })
    else if (end === undefined) emit({ type: 'step-updated', step })
    entry.hasBegun = true
    entry.isSent = end !== undefined
    if (end !== undefined) emit({ type: 'step-ended', step, status: end, row: `${part.id} ends`, ...helped })
  }

  /** Sends what can be sent in order; everything if nothing more follows. */
  const advance = ({ info, parts }: KnownMessage, { isCut = false, isLost = false, upTo }: Advancing = {}) => {
    let isForced = isCut || upTo !== undefined
    const brokenOff = hasBrokenOff || info?.error ? [...parts.keys()].at(-1) : undefined
    for (const [id, entry] of parts) {
      const { part } = entry
      if (info?.role === 'user') tellPrompt(entry)
      else if (entry.isSent) continue
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
      else message.parts.set(part.id, { part, hasBegun: false, isSent: false })
      if (message.info) advance(message, { isCut: message.info.time.completed !== undefined })
    },
    delta({ messageID, partID }, text) {
      const entry = messages.get(messageID)?.parts.get(partID)
      if (!entry || entry.isSent || (entry.part.type !== 'text' && entry.part.type !== 'reasoning')) return
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
    isOver: ({ id }) => finished.has(id),
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

/** How it ended; undefined while it runs. */
function stepEndOf({ callID, state }: ToolPart, denied: ReadonlySet<string>): StepStatus | undefined {
  if (state.status === 'completed') return 'completed'
  if (state.status !== 'error') return undefined
  if (denied.has(callID) || isRejected(state)) return 'denied'
  return state.metadata?.['interrupted'] === true || state.error === 'Tool execution aborted' ? 'cancelled' : 'failed'
}

/** A person's answer to a step that is no longer asked about; undefined if its result does not show it. */
export function wasAllowed(call: string, history: History): boolean | undefined {
  const part = history.flatMap(({ parts }) => parts).findLast(part => part?.type === 'tool' && part.callID === call)
  if (part?.type !== 'tool') return undefined
  if (part.state.status === 'error') return isRejected(part.state) ? false : undefined
  return true
}

/** Someone denied it. */
function isRejected({ status, error }: ToolPart['state']): boolean {
  return status === 'error' && /rejected permission|dismissed this question/.test(error ?? '')
}

/** A no ends the turn, unless it has a reason. */
function endsTurn(state: ToolPart['state']): boolean {
  return isRejected(state) && !/with the following feedback/.test(state.error ?? '')
}

/** The agent's conversations with its own subagents. */
interface Helpers {
  /** A conversation was created; this only matters if one that we follow created it. */
  begin(session: Session, conversation: string): void
  end(id: string): void
  /** Whether a conversation belongs to no subagent of any conversation. */
  isOfPerson(id: string): boolean
  translatorOf(id: string): Translator | undefined
  /** Of the subagent whose step it is. */
  ofStep(call: string): Translator | undefined
  /** `isLost`: opencode is gone, and does not have incomplete ones. */
  endAll(isLost?: boolean): void
}

export function createHelpers(emit: (event: AgentEvent) => void): Helpers {
  const running = new Map<string, Translator>()
  const ofAgents = new Set<string>()

  const end = (id: string, isLost = false) => {
    const translator = running.get(id)
    if (!running.delete(id)) return
    translator?.cut(isLost)
    emit({ type: 'subagent-stopped', subagent: id, row: `${id} ends` })
  }

  return {
    begin({ id, parentID, title }, conversation) {
      if (parentID === undefined || running.has(id)) return
      ofAgents.add(id)
      if (parentID !== conversation && !running.has(parentID)) return
      running.set(id, createTranslator({ emit, subagent: id }))
      emit({ type: 'subagent-started', subagent: id, title: title || undefined, row: `${id} begins` })
    },
    end,
    isOfPerson: id => !ofAgents.has(id),
    translatorOf: id => running.get(id),
    ofStep: call => [...running.values()].find(translator => translator.hasStep(call)),
    endAll(isLost) {
      for (const id of [...running.keys()]) end(id, isLost)
    }
  }
}

const mark = 'Afield'
const base = 36n

/**
 * Names a message as opencode does, by time, so that it is in its place; the rest says that it came through
 * us. One found under such a name later was not typed at the terminal.
 */
export function newMessageId(now = Date.now()): string {
  const time = ((BigInt(now) * 0x1000n) & 0xffffffffffffn).toString(16).padStart(12, '0')
  const rest = BigInt(`0x${randomBytes(6).toString('hex')}`) % base ** 8n
  return `msg_${time}${mark}${rest.toString(36).padStart(8, '0')}`
}

function isOurMessage(id: string): boolean {
  return id.slice('msg_'.length + 12).startsWith(mark)
}
