import type { Attached } from './attached.ts'
import type { SessionFacts } from './session-facts.ts'
import type { WaitingText } from './session-texts.ts'
import type { Mine, Transcript } from './transcript.ts'

/** A message that waits for the agent to come to it. */
export interface Queued {
  readonly localId: string
  readonly text: string
  readonly files: readonly Attached[]
  /** On this device, or further: then only the machine can still leave it out. */
  readonly isHere: boolean
}

type Reading = Pick<SessionFacts, 'readSeq' | 'hasReceipts'>

/** What was sent while the agent works and what it has not read, in the order in which it will. */
export function queueOf(of: {
  transcript: Transcript
  waiting: readonly WaitingText[]
  takenBack: ReadonlySet<string>
  facts: Reading
}): Queued[] {
  const { transcript, waiting, takenBack, facts } = of
  const stored = transcript.items.filter(item => item.type === 'mine').filter(item => isUnread(item, transcript, facts))
  const all: (Queued & { isSteer: boolean })[] = [
    ...stored.map(({ localId, text, files, isSteer }) => ({ localId: localId ?? '', text, files, isSteer, isHere: false })),
    ...waiting
      .filter(({ state }) => state === 'device')
      .map(({ localId, text, files = [], isSteer = false }) => ({ localId, text, files, isSteer, isHere: true }))
  ]
  return all.filter(({ localId, isSteer }) => localId !== '' && !isSteer && !takenBack.has(localId))
}

/**
 * One before the one it follows. What is sent keeps its place for good, so those that now come later are taken back and sent anew, as few as
 * can be.
 */
export function movedUp(queue: readonly Queued[], localId: string): { again: readonly Queued[] } {
  const at = queue.findIndex(each => each.localId === localId)
  if (at < 1) return { again: [] }
  const order = queue.map((_, index) => (index === at - 1 ? at : index === at ? at - 1 : index))
  const stay = order.findIndex((old, index) => index > 0 && old < (order[index - 1] ?? 0))
  return { again: order.slice(stay).flatMap(old => queue[old] ?? []) }
}

/** True until the agent has it. Wrappers that give no receipts read what came during a turn when it ends. */
export function isUnread(item: Mine, { turn }: Pick<Transcript, 'turn'>, { readSeq, hasReceipts }: Reading): boolean {
  if (item.from !== 'app' || item.isWithdrawn) return false
  return hasReceipts ? item.seq > readSeq : turn !== undefined && item.at >= turn.startedAt
}
