import type { PartialBody, PlanEntry, Usage } from '../../../lib/protocol/sealed/messages.ts'
import { type Fold, foldMessage, freshFold, thaw } from './fold/fold.ts'
import { inOrder } from './fold/turn-queue.ts'
import type { Item, Turn } from './items.ts'
import type { KnownMessage } from './message.ts'

/**
 * How a person sees a session's messages. An immutable value: the same set of messages gives the
 * same transcript, in any order and with any repetition.
 */
export interface Transcript {
  /** Every message known so far, ascending by seq, each once. */
  readonly messages: readonly KnownMessage[]
  readonly items: readonly Item[]
  /** The current plan, from the last turn that reported one. */
  readonly plan: readonly PlanEntry[] | undefined
  readonly turn: Turn | undefined
  /** Growing blocks; never stored, and removed as soon as the stored text is here. */
  readonly partials: readonly Partial[]
  readonly usage: Usage | undefined
  readonly fold: Fold
}

export interface Partial extends PartialBody {
  readonly at: number
}

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
 * The transcript with more messages. Known seqs are ignored, unless the known one could not be
 * decrypted and the new one can. The cost of new messages at the end depends on them alone; earlier ones fold everything again.
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

/** The transcript with the current state of a growing block. A late one, whose end is already stored, changes nothing. */
export function addPartial(transcript: Transcript, partial: Partial): Transcript {
  const partials = [...transcript.partials.filter(known => known.block !== partial.block), partial]
  // An empty one was withdrawn: it will be sent again.
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

// The stored text has the block's id. Other wrappers are matched by time: anything that the
// turn stored after the last update of a block has replaced that block.
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
