import type { PlanEntry, Usage } from '../../../../lib/protocol/sealed/messages.ts'
import type { Attached } from '../../session/attachment.ts'
import type { Fault, Item, Missing, Place, Step, StepState, Turn } from '../items.ts'
import type { KnownMessage } from '../message.ts'
import { transcriptEvents } from '../message.ts'
import { planOfArgs } from '../steps.ts'
import type { TranscriptEvent } from './events.ts'
import { copySenders, findFault, freshSenders, type Senders } from './sender-order.ts'
import { foldInner, type SubagentSteps } from './subagent-steps.ts'
import {
  emptyQueue,
  isMineOf,
  moveMine,
  noteRead,
  type Queue,
  queueUp,
  replaceWords,
  standApart,
  startWith,
  startWithNext
} from './turn-queue.ts'

/** The state needed to fold the next message. Mutated only by the batch that thawed it. */
export interface Fold extends SubagentSteps {
  /** Files of a person that wait for the text they belong to. */
  announced: Attached[]
  /** The index of a tool call in `items`, by its id. */
  stepByCall: Map<string, number>
  planByTurn: Map<string, number>
  running: Set<string>
  endedBlocks: Set<string>
  endedTurns: Set<string>
  lastTextOfTurn: Map<string, { text: string; thinking: boolean }>
  plan: PlanEntry[] | undefined
  turn: Turn | undefined
  /** Messages sent during a turn, which wait for their own. */
  queue: Queue
  usage: Usage | undefined
  senders: Senders
}

export function freshFold(): Fold {
  return {
    items: [],
    announced: [],
    stepByCall: new Map(),
    stepBySubagent: new Map(),
    planByTurn: new Map(),
    running: new Set(),
    endedBlocks: new Set(),
    endedTurns: new Set(),
    lastTextOfTurn: new Map(),
    plan: undefined,
    turn: undefined,
    queue: emptyQueue,
    usage: undefined,
    senders: freshSenders()
  }
}

export function thaw(fold: Fold): Fold {
  return {
    ...fold,
    items: fold.items.slice(),
    announced: fold.announced.slice(),
    stepByCall: new Map(fold.stepByCall),
    stepBySubagent: new Map(fold.stepBySubagent),
    planByTurn: new Map(fold.planByTurn),
    running: new Set(fold.running),
    endedBlocks: new Set(fold.endedBlocks),
    endedTurns: new Set(fold.endedTurns),
    lastTextOfTurn: new Map(fold.lastTextOfTurn),
    senders: copySenders(fold.senders)
  }
}

export function foldMessage(fold: Fold, message: KnownMessage): void {
  const isRepeated = foldFault(fold, message) === 'repeated'
  if (isRepeated) return
  let index = 0
  for (const event of transcriptEvents(message)) {
    foldEvent(fold, event, { key: `${message.seq}.${index++}`, seq: message.seq, at: event.time ?? message.at }, message)
  }
}

/** Reports faults at their place, and removes reports of missing messages that arrived or never will. */
function foldFault(fold: Fold, message: KnownMessage): Fault | undefined {
  const { seq, at } = message
  const found = findFault(fold.senders, message)
  if (fold.senders.gaps > 0) closeGaps(fold)
  if (found === undefined) return undefined
  const item = { type: 'fault' as const, key: `${seq}.fault`, seq, at, fault: found.type }
  if (found.type === 'missing') {
    fold.senders.gaps++
    fold.items.push({ ...item, count: found.numbers.length, missing: { sender: found.by.sender, numbers: found.numbers } })
  } else fold.items.push({ ...item, count: 1 })
  return found.type
}

function closeGaps(fold: Fold): void {
  const { order } = fold.senders
  fold.items = fold.items.map(item => {
    if (!isGap(item)) return item
    const { sender, numbers } = item.missing
    const left = numbers.filter(number => order.isMissing({ sender, number }))
    return left.length === numbers.length ? item : { ...item, count: left.length, missing: { sender, numbers: left } }
  })
  fold.senders.gaps -= dropItems(fold, item => isGap(item) && item.missing.numbers.length === 0)
}

/** Returns how many. Steps and plans are found by index, so the indices after a dropped item shift. */
function dropItems(fold: Fold, isDropped: (item: Item) => boolean): number {
  const dropped = fold.items.flatMap((item, index) => (isDropped(item) ? index : []))
  if (dropped.length === 0) return 0
  fold.items = fold.items.filter(item => !isDropped(item))
  for (const positions of [fold.stepByCall, fold.stepBySubagent, fold.planByTurn]) {
    for (const [key, position] of positions) positions.set(key, position - dropped.filter(each => each < position).length)
  }
  return dropped.length
}

function isGap(item: Item): item is Item & { type: 'fault'; missing: Missing } {
  return item.type === 'fault' && item.missing !== undefined
}

/** The same for the events of one subagent, as if it were a session. */
export function foldInto(fold: Fold, message: KnownMessage, subagent: string): void {
  let index = 0
  for (const event of transcriptEvents(message)) {
    const place = { key: `${message.seq}.${index++}`, seq: message.seq, at: event.time ?? message.at }
    if (event.subagent === subagent) foldEvent(fold, { ...event, subagent: undefined }, place, message)
  }
}

function foldEvent(fold: Fold, event: TranscriptEvent, place: Place, message: KnownMessage): void {
  if (event.subagent !== undefined) {
    foldInner(fold, event, place, event.subagent)
    return
  }
  // Remarks outside the work, such as that there is a new version, do not start a turn.
  if (event.turn !== undefined && event.type !== 'note' && event.type !== 'fault') enterTurn(fold, event.turn, place)
  switch (event.type) {
    case 'mine': {
      // Keyed by the sender's id, so that the bubble that waited on this device becomes the stored one.
      const key = message.localId === null ? place.key : `mine.${message.localId}`
      const { text, from, isSteer = false, replaces } = event
      const files = from === 'app' ? fold.announced.splice(0) : []
      const { localId } = message
      if (replaces !== undefined && localId !== null && replaceWords(fold.items, replaces, { localId, ...place, text, files, isSteer }))
        return
      const item = { type: 'mine' as const, ...place, key, localId, text, from, files, isSteer, isWithdrawn: false }
      fold.items.push(item)
      fold.queue = queueUp(fold.queue, fold.items, item, fold.turn !== undefined)
      return
    }
    case 'text':
      foldText(fold, event, place)
      return
    case 'step-started':
      startStep(fold, event, place)
      return
    case 'step-ended':
      endStep(fold, event, place.at)
      return
    case 'plan':
      foldPlan(fold, event.entries, place)
      return
    case 'file':
      if (event.mine) fold.announced.push(event.file)
      else fold.items.push({ type: 'file', ...place, file: event.file })
      return
    case 'withdrawn':
      fold.items = fold.items.map(item => (isMineOf(item, event.localId) ? { ...item, isWithdrawn: true } : item))
      return
    case 'moved':
      moveMine(fold.items, event.localId, event.before)
      return
    case 'read':
      noteRead(fold.items, event.localId)
      fold.queue = startWith(fold.queue, fold.items, event.localId)
      return
    case 'apart':
      standApart(fold.items, event.localId, place)
      return
    case 'turn-started':
      if (fold.turn?.id !== event.turn) startTurn(fold, event.turn, place)
      return
    case 'turn-ended':
      endTurn(fold, event.status, place, event.turn)
      return
    case 'usage':
      fold.usage = event.usage
      return
    case 'fault':
      fold.items.push({ type: 'fault', ...place, fault: event.fault, count: event.count })
      return
    case 'note':
      fold.items.push({ type: 'note', ...place, text: event.text })
      return
    case 'limit':
      fold.items.push({ type: 'limit', ...place, endsAt: event.endsAt })
      return
    case 'control':
      fold.items.push({ type: 'control', ...place, to: event.to })
      return
    case 'subagent-started':
    case 'subagent-stopped':
      return
    case 'skipped':
      foldSkipped(fold, event.why, place)
      return
  }
}

// History may begin in the middle of a turn, and older wrappers do not report its start.
function enterTurn(fold: Fold, turn: string, place: Place): void {
  if (fold.turn?.id !== turn && !fold.endedTurns.has(turn)) startTurn(fold, turn, place)
}

function startTurn(fold: Fold, turn: string | undefined, place: Place): void {
  fold.turn = { id: turn, startedAt: place.at }
  // A completed plan is not the plan of this turn.
  if (fold.plan?.every(({ status }) => status === 'completed')) fold.plan = undefined
  fold.queue = startWithNext(fold.queue, fold.items, place)
}

function foldText(fold: Fold, event: TranscriptEvent & { type: 'text' }, place: Place): void {
  if (event.block !== undefined) fold.endedBlocks.add(event.block)
  const turn = event.turn ?? fold.turn?.id
  if (turn !== undefined) fold.lastTextOfTurn.set(turn, { text: event.text, thinking: event.thinking })
  if (event.text.trim() === '') return
  if (event.thinking) fold.items.push({ type: 'thinking', ...place, text: event.text, tookMs: thinkingTime(fold, place) })
  else fold.items.push({ type: 'prose', ...place, text: event.text, ...(event.isCut && { isCut: true }) })
}

// Only if known: the time since the previous event in the same turn, if short enough to be a thought.
function thinkingTime(fold: Fold, place: Place): number | undefined {
  const before = fold.items.at(-1)
  const since = before === undefined ? fold.turn?.startedAt : before.type === 'step' ? (before.endedAt ?? before.at) : before.at
  return since === undefined || place.at - since < 1000 ? undefined : place.at - since
}

function startStep(fold: Fold, event: TranscriptEvent & { type: 'step-started' }, place: Place): void {
  const entries = planOfArgs(event.name, event.args)
  if (entries !== undefined) {
    foldPlan(fold, entries, place)
    return
  }
  const known = stepOf(fold, event.call)
  const step: Step = {
    type: 'step',
    ...place,
    call: event.call,
    kind: event.kind,
    name: event.name,
    title: event.title,
    description: event.description,
    args: event.args,
    locations: event.locations,
    content: event.content,
    state: 'running',
    endedAt: undefined
  }
  // Agents report a call again when they know more about it.
  if (known !== undefined) {
    replaceStep(fold, { ...step, ...pick(known) })
    return
  }
  fold.stepByCall.set(event.call, fold.items.length)
  fold.running.add(event.call)
  fold.items.push(step)
}

function pick(known: Step): Pick<Step, 'key' | 'seq' | 'at' | 'state' | 'endedAt'> {
  return { key: known.key, seq: known.seq, at: known.at, state: known.state, endedAt: known.endedAt }
}

function endStep(fold: Fold, event: TranscriptEvent & { type: 'step-ended' }, at: number): void {
  const step = stepOf(fold, event.call)
  if (step === undefined) return
  fold.running.delete(event.call)
  const content = event.content.length === 0 ? step.content : [...step.content.filter(each => each.type === 'diff'), ...event.content]
  const shown = event.content.some(each => each.type === 'diff') ? event.content : content
  replaceStep(fold, { ...step, content: shown, state: stateOf(event.status), endedAt: at })
}

function stateOf(status: 'completed' | 'failed' | 'denied' | 'cancelled' | undefined): StepState {
  switch (status) {
    case 'completed':
      return 'ok'
    case 'failed':
      return 'failed'
    case 'denied':
      return 'denied'
    case 'cancelled':
      return 'stopped'
    case undefined:
      return 'done'
  }
}

function stepOf(fold: Fold, call: string): Step | undefined {
  const item = fold.items[fold.stepByCall.get(call) ?? -1]
  return item?.type === 'step' ? item : undefined
}

function replaceStep(fold: Fold, step: Step): void {
  const index = fold.stepByCall.get(step.call)
  if (index !== undefined) fold.items[index] = step
}

// A plan appears once per turn, where it was first reported, and changes there.
function foldPlan(fold: Fold, entries: PlanEntry[], place: Place): void {
  fold.plan = entries
  const turn = fold.turn?.id ?? ''
  const index = fold.planByTurn.get(turn)
  const known = index === undefined ? undefined : fold.items[index]
  if (index !== undefined && known?.type === 'plan') fold.items[index] = { ...known, entries }
  else {
    fold.planByTurn.set(turn, fold.items.length)
    fold.items.push({ type: 'plan', ...place, entries })
  }
}

function endTurn(fold: Fold, status: 'completed' | 'failed' | 'cancelled', place: Place, turn: string | undefined): void {
  const ended = turn ?? fold.turn?.id
  if (ended !== undefined) {
    fold.endedTurns.add(ended)
    fold.lastTextOfTurn.delete(ended)
  }
  fold.endedBlocks.clear()
  for (const call of fold.running) {
    const step = stepOf(fold, call)
    if (step !== undefined) replaceStep(fold, { ...step, state: status === 'completed' ? 'done' : 'stopped', endedAt: place.at })
  }
  fold.running.clear()
  fold.turn = undefined
  fold.planByTurn.delete('')
  if (status === 'cancelled') dropCutMark(fold)
  if (status !== 'completed') fold.items.push({ type: 'turn-ended', ...place, status })
}

/** The notice that a person stopped it follows directly: the agent did not fail. */
function dropCutMark({ items }: Fold): void {
  const last = items.at(-1)
  if (last?.type !== 'prose') return
  const { isCut: _, ...whole } = last
  items[items.length - 1] = whole
}

function foldSkipped(fold: Fold, why: 'unreadable' | 'unknown-shape', place: Place): void {
  const before = fold.items.at(-1)
  if (before?.type === 'skipped' && before.why === why) fold.items[fold.items.length - 1] = { ...before, count: before.count + 1 }
  else fold.items.push({ type: 'skipped', ...place, why, count: 1 })
}
