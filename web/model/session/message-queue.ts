import { ownOf } from '../transcript/fold/turn-queue.ts'
import type { Mine } from '../transcript/items.ts'
import type { Transcript } from '../transcript/transcript.ts'
import type { Attached } from './attachment.ts'
import type { SessionFacts } from './facts.ts'
import type { Move, WaitingText } from './texts.ts'

/** A message that the agent has not read yet. */
export interface Queued {
  readonly localId: string
  readonly text: string
  readonly files: readonly Attached[]
  /** On this device, or already sent: then only the machine can still drop it. */
  readonly isHere: boolean
  /** The machine has it. */
  readonly isThere: boolean
}

type Reading = Pick<SessionFacts, 'readSeq' | 'hasReceipts'>

/** Messages that the agent has not read, in its order, including unsent changes made here. */
export function queueOf(of: {
  transcript: Transcript
  waiting: readonly WaitingText[]
  takenBack: ReadonlySet<string>
  moves: readonly Move[]
  facts: Reading & Pick<SessionFacts, 'deliveredSeq'>
}): Queued[] {
  const { transcript, takenBack, facts } = of
  const waiting = of.waiting.filter(({ state }) => state === 'device')
  const stored = transcript.items.filter(item => item.type === 'mine').filter(item => isUnreadByAgent(item, transcript, facts))
  const all: (Queued & { isSteer: boolean })[] = [
    ...stored.map(item => {
      const { localId, text, files, isSteer } = item
      return { localId: localId ?? '', text, files, isSteer, isHere: false, isThere: ownOf(item).seq <= facts.deliveredSeq }
    }),
    ...waiting.filter(({ replaces }) => replaces === undefined).map(asWaiting)
  ]
  for (const change of waiting) {
    const at = all.findIndex(({ localId }) => localId === change.replaces)
    if (at >= 0) all[at] = { ...asWaiting(change), localId: all[at]?.localId ?? '' }
  }
  for (const { localId, before } of of.moves) moveBefore(all, localId, before)
  return all.filter(({ localId, isSteer }) => localId !== '' && !isSteer && !takenBack.has(localId))
}

function asWaiting({ localId, text, files = [], isSteer = false }: WaitingText): Queued & { isSteer: boolean } {
  return { localId, text, files, isSteer, isHere: true, isThere: false }
}

function moveBefore(all: { localId: string }[], localId: string, before: string): void {
  const from = all.findIndex(each => each.localId === localId)
  const to = all.findIndex(each => each.localId === before)
  if (to >= 0 && from > to) all.splice(to, 0, ...all.splice(from, 1))
}

/** True until the agent has it. Wrappers without receipts read messages sent during a turn when it ends. */
function isUnreadByAgent(item: Mine, { turn }: Pick<Transcript, 'turn'>, { readSeq, hasReceipts }: Reading): boolean {
  if (item.from !== 'app' || item.isWithdrawn || item.isRead) return false
  return hasReceipts ? ownOf(item).seq > readSeq : turn !== undefined && ownOf(item).at >= turn.startedAt
}
