import type { PlanEntry, Usage } from '../../../../lib/protocol/sealed/messages.ts'
import type { Attached } from '../../session/attachment.ts'
import type { Fault, Item, Missing, Place, Step, StepState, Turn } from '../items.ts'
import type { KnownMessage } from '../message.ts'
import { happeningsOf } from '../message.ts'
import { planOfArgs } from '../steps.ts'
import type { Happening } from './events.ts'
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
  lastAt: number
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
    lastAt: 0,
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
  for (const happening of happeningsOf(message)) {
    foldHappening(fold, happening, { key: `${message.seq}.${index++}`, seq: message.seq, at: happening.time ?? message.at }, message)
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
  for (const happening of happeningsOf(message)) {
    const place = { key: `${message.seq}.${index++}`, seq: message.seq, at: happening.time ?? message.at }
    if (happening.subagent === subagent) foldHappening(fold, { ...happening, subagent: undefined }, place, message)
  }
}

function foldHappening(fold: Fold, happening: Happening, place: Place, message: KnownMessage): void {
  if (happening.subagent !== undefined) {
    foldInner(fold, happening, place, happening.subagent)
    return
  }
  // Remarks outside the work, such as that there is a new version, do not start a turn.
  if (happening.turn !== undefined && happening.type !== 'note' && happening.type !== 'fault') enterTurn(fold, happening.turn, place)
  fold.lastAt = place.at
  switch (happening.type) {
    case 'mine': {
      // Keyed by the sender's id, so that the bubble that waited on this device becomes the stored one.
      const key = message.localId === null ? place.key : `mine.${message.localId}`
      const { text, from, isSteer = false, replaces } = happening
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
      foldText(fold, happening, place)
      return
    case 'step-started':
      startStep(fold, happening, place)
      return
    case 'step-ended':
      endStep(fold, happening, place.at)
      return
    case 'plan':
      foldPlan(fold, happening.entries, place)
      return
    case 'file':
      if (happening.mine) fold.announced.push(happening.file)
      else fold.items.push({ type: 'file', ...place, file: happening.file })
      return
    case 'withdrawn':
      fold.items = fold.items.map(item => (isMineOf(item, happening.localId) ? { ...item, isWithdrawn: true } : item))
      return
    case 'moved':
      moveMine(fold.items, happening.localId, happening.before)
      return
    case 'read':
      noteRead(fold.items, happening.localId)
      fold.queue = startWith(fold.queue, fold.items, happening.localId)
      return
    case 'apart':
      standApart(fold.items, happening.localId, place)
      return
    case 'turn-started':
      if (fold.turn?.id !== happening.turn) startTurn(fold, happening.turn, place)
      return
    case 'turn-ended':
      endTurn(fold, happening.status, place, happening.turn)
      return
    case 'usage':
      fold.usage = happening.usage
      return
    case 'fault':
      fold.items.push({ type: 'fault', ...place, fault: happening.fault, count: happening.count })
      return
    case 'note':
      fold.items.push({ type: 'note', ...place, text: happening.text })
      return
    case 'limit':
      fold.items.push({ type: 'limit', ...place, endsAt: happening.endsAt })
      return
    case 'control':
      fold.items.push({ type: 'control', ...place, to: happening.to })
      return
    case 'subagent-started':
    case 'subagent-stopped':
      return
    case 'skipped':
      foldSkipped(fold, happening.why, place)
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

function foldText(fold: Fold, happening: Happening & { type: 'text' }, place: Place): void {
  if (happening.block !== undefined) fold.endedBlocks.add(happening.block)
  const turn = happening.turn ?? fold.turn?.id
  if (turn !== undefined) fold.lastTextOfTurn.set(turn, { text: happening.text, thinking: happening.thinking })
  if (happening.text.trim() === '') return
  if (happening.thinking) fold.items.push({ type: 'thinking', ...place, text: happening.text, tookMs: thinkingTime(fold, place) })
  else fold.items.push({ type: 'prose', ...place, text: happening.text, ...(happening.isCut && { isCut: true }) })
}

// Only if known: the time since the previous event in the same turn, if short enough to be a thought.
function thinkingTime(fold: Fold, place: Place): number | undefined {
  const before = fold.items.at(-1)
  const since = before === undefined ? fold.turn?.startedAt : before.type === 'step' ? (before.endedAt ?? before.at) : before.at
  return since === undefined || place.at - since < 1000 ? undefined : place.at - since
}

function startStep(fold: Fold, happening: Happening & { type: 'step-started' }, place: Place): void {
  const entries = planOfArgs(happening.name, happening.args)
  if (entries !== undefined) {
    foldPlan(fold, entries, place)
    return
  }
  const known = stepOf(fold, happening.call)
  const step: Step = {
    type: 'step',
    ...place,
    call: happening.call,
    kind: happening.kind,
    name: happening.name,
    title: happening.title,
    description: happening.description,
    args: happening.args,
    locations: happening.locations,
    content: happening.content,
    state: 'running',
    endedAt: undefined
  }
  // Agents report a call again when they know more about it.
  if (known !== undefined) {
    replaceStep(fold, { ...step, ...pick(known) })
    return
  }
  fold.stepByCall.set(happening.call, fold.items.length)
  fold.running.add(happening.call)
  fold.items.push(step)
}

function pick(known: Step): Pick<Step, 'key' | 'seq' | 'at' | 'state' | 'endedAt'> {
  return { key: known.key, seq: known.seq, at: known.at, state: known.state, endedAt: known.endedAt }
}

function endStep(fold: Fold, happening: Happening & { type: 'step-ended' }, at: number): void {
  const step = stepOf(fold, happening.call)
  if (step === undefined) return
  fold.running.delete(happening.call)
  const content =
    happening.content.length === 0 ? step.content : [...step.content.filter(each => each.type === 'diff'), ...happening.content]
  const shown = happening.content.some(each => each.type === 'diff') ? happening.content : content
  replaceStep(fold, { ...step, content: shown, state: stateOf(happening.status), endedAt: at })
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
