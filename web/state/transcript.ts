import type { MessageBody, PartialBody, PlanEntry, StepContent, StepKind, Usage } from '../../lib/protocol/sealed/messages.ts'
import type { SealedBy } from '../../lib/protocol/sealed/sealed-for.ts'
import type { Attached } from './attached.ts'
import { type Fold, foldMessage, freshFold, thaw } from './transcript-fold.ts'
import type { Fault } from './transcript-order.ts'
import { inOrder } from './transcript-queue.ts'

/**
 * What a session's messages look like to a person. A plain value: the same set of messages gives the
 * same transcript, in whatever order and however often they came.
 */
export interface Transcript {
  /** Every message known so far, ascending by seq, each once. */
  readonly messages: readonly KnownMessage[]
  readonly items: readonly Item[]
  /** The plan as it stands now, from whichever turn told it last. */
  readonly plan: readonly PlanEntry[] | undefined
  readonly turn: Turn | undefined
  /** Blocks that still grow; never stored, gone as soon as the stored text is here. */
  readonly partials: readonly Partial[]
  readonly usage: Usage | undefined
  readonly fold: Fold
}

/** A message as the session state hands it in. `body` is undefined when it could not be opened, `at` is ms since 1970. */
export interface KnownMessage {
  readonly seq: number
  readonly localId: string | null
  readonly at: number
  readonly body: MessageBody | undefined
  /** Why there is no body: no key on this device fits, or a form that this app does not know. */
  readonly closed?: 'unreadable' | 'unknown-shape'
  /** Who wrote it, where that is all that could be read. */
  readonly by?: SealedBy | undefined
}

export interface Turn {
  readonly id: string | undefined
  readonly startedAt: number
}

export interface Partial extends PartialBody {
  readonly at: number
}

export type StepState = 'running' | 'ok' | 'done' | 'failed' | 'denied' | 'stopped'

/** A tool call from start to end. `done` means it ended and nobody said how. */
export interface Step {
  readonly type: 'step'
  readonly key: string
  readonly seq: number
  readonly at: number
  readonly call: string
  readonly kind: StepKind | 'agent'
  readonly name: string
  readonly title: string
  readonly description: string
  readonly args: Readonly<Record<string, unknown>>
  readonly locations: readonly string[]
  readonly content: readonly StepContent[]
  readonly state: StepState
  readonly endedAt: number | undefined
  /** Of a subagent: how much it did and what it did last. */
  readonly inner?: { readonly steps: number; readonly last: readonly string[] }
}

export interface Mine {
  readonly type: 'mine'
  readonly key: string
  readonly seq: number
  readonly at: number
  readonly localId: string | null
  readonly text: string
  /** `decision`: what a person added to a no or a stop, which the wrapper hands over. */
  readonly from: 'app' | 'terminal' | 'decision'
  /** What was sent before it, and belongs to it. */
  readonly files: readonly Attached[]
  /** It did not wait for the end of the turn. */
  readonly isSteer: boolean
  /** Its sender took it back before the agent had it. */
  readonly isWithdrawn: boolean
  /** The agent has it, though earlier ones may wait. */
  readonly isRead?: boolean
  /** Where and when it was stored, when it was moved and stands elsewhere. */
  readonly own?: { readonly seq: number; readonly at: number } | undefined
  /** Its words as they were and became, by the messages that said them. */
  readonly versions?: readonly (Pick<Mine, 'text' | 'files' | 'isSteer' | 'seq' | 'at'> & { readonly localId: string })[] | undefined
}

/** Of one sender. */
export interface Missing {
  readonly sender: string
  readonly numbers: readonly number[]
}

interface At {
  readonly key: string
  readonly seq: number
  readonly at: number
}

export type Item =
  | Mine
  | Step
  | (At & { readonly type: 'prose'; readonly text: string; readonly isCut?: boolean })
  | (At & { readonly type: 'thinking'; readonly text: string; readonly tookMs: number | undefined })
  | (At & { readonly type: 'plan'; readonly entries: readonly PlanEntry[] })
  | (At & { readonly type: 'file'; readonly file: Attached })
  | (At & { readonly type: 'turn-ended'; readonly status: 'failed' | 'cancelled' })
  | (At & { readonly type: 'note'; readonly text: string })
  | (At & { readonly type: 'fault'; readonly fault: Fault; readonly count: number; readonly missing?: Missing | undefined })
  | (At & { readonly type: 'limit'; readonly endsAt: number | undefined })
  | (At & { readonly type: 'control'; readonly to: 'terminal' | 'app' })
  | (At & { readonly type: 'skipped'; readonly why: 'unreadable' | 'unknown-shape'; readonly count: number })

export const emptyTranscript: Transcript = {
  messages: [],
  items: [],
  plan: undefined,
  turn: undefined,
  partials: [],
  usage: undefined,
  fold: freshFold()
}

/**
 * The transcript with more messages in it. Known seqs are ignored, unless the known one could not be
 * opened and the new one can. News at the end costs what the news is; anything earlier folds all again.
 */
export function addMessages(transcript: Transcript, incoming: readonly KnownMessage[]): Transcript {
  const news = unseen(transcript.messages, incoming)
  if (news.length === 0) return transcript

  const last = transcript.messages.at(-1)
  const first = news[0]
  const isTail = first !== undefined && (last === undefined || first.seq > last.seq)
  const fold = isTail ? thaw(transcript.fold) : freshFold()
  const messages = isTail ? [...transcript.messages, ...news] : merged(transcript.messages, news)
  for (const message of isTail ? news : messages) foldMessage(fold, message)

  return view(messages, fold, transcript.partials)
}

/** The transcript with a growing block as it stands now. A late one, whose end is stored already, changes nothing. */
export function addPartial(transcript: Transcript, partial: Partial): Transcript {
  const partials = [...transcript.partials.filter(known => known.block !== partial.block), partial]
  // One without words was taken back: it is said anew.
  const kept = partials.filter(each => each.text !== '' && stillGrows(each, transcript.fold))
  return kept.length === 0 && transcript.partials.length === 0 ? transcript : { ...transcript, partials: kept }
}

function view(messages: readonly KnownMessage[], fold: Fold, partials: readonly Partial[]): Transcript {
  return {
    messages,
    items: inOrder(fold.items, fold.queue),
    plan: fold.plan,
    turn: fold.turn,
    partials: partials.filter(partial => stillGrows(partial, fold)),
    usage: fold.usage,
    fold
  }
}

// The stored text carries the block's id. Wrappers that number otherwise are caught by time: whatever the
// turn stored after the last word of a block has replaced that block.
function stillGrows(partial: Partial, fold: Fold): boolean {
  if (fold.endedBlocks.has(partial.block) || fold.endedTurns.has(partial.turn)) return false
  const stored = fold.lastTextOfTurn.get(partial.turn)
  return stored === undefined || !stored.text.startsWith(partial.text) || stored.thinking !== partial.thinking
}

function unseen(known: readonly KnownMessage[], incoming: readonly KnownMessage[]): KnownMessage[] {
  const news = new Map<number, KnownMessage>()
  for (const message of incoming) {
    const before = news.get(message.seq) ?? bySeq(known, message.seq)
    if (before === undefined || (before.body === undefined && message.body !== undefined)) news.set(message.seq, message)
  }
  return [...news.values()].sort((a, b) => a.seq - b.seq)
}

function bySeq(messages: readonly KnownMessage[], seq: number): KnownMessage | undefined {
  let low = 0
  let high = messages.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const found = messages[middle]
    if (found === undefined) return undefined
    if (found.seq === seq) return found
    if (found.seq < seq) low = middle + 1
    else high = middle - 1
  }
  return undefined
}

function merged(known: readonly KnownMessage[], news: readonly KnownMessage[]): KnownMessage[] {
  const all = new Map<number, KnownMessage>()
  for (const message of known) all.set(message.seq, message)
  for (const message of news) all.set(message.seq, message)
  return [...all.values()].sort((a, b) => a.seq - b.seq)
}
