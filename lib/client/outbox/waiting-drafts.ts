import type { Draft } from '../sealed/messages.ts'
import { draftKey } from './journal.ts'

type Named = Pick<Draft, 'session' | 'localId'>

/** The drafts of an outbox, in sending order, and the space they use. */
export interface WaitingDrafts {
  readonly all: readonly Draft[]
  readonly size: number
  get(draft: Named): Draft | undefined
  /** Reserves space from now on, even before it is added. */
  reserve(draft: Draft): void
  unreserve(draft: Draft): void
  /** One whose space is reserved. */
  add(draft: Draft): void
  /** False if it is not here. */
  remove(draft: Named): boolean
  hasRoom(draft: Draft): boolean
  /** Expendable ones that would make space for this one, the oldest first; none that is in flight. */
  expendableFor(draft: Draft): Draft[]
  /** The oldest drafts of one session, as many as fit one request. */
  nextBatch(most: number): Draft[]
  /** Those are in the current request, until the next call. */
  setUnderway(drafts: readonly Draft[]): void
  isUnderway(draft: Named): boolean
  /** It was in a request whose answer never came, also if it was withdrawn since and added again, edited. */
  wasTried(draft: Named): boolean
  noteTried(draft: Named): void
}

const mostBytesPerBatch = 1024 * 1024
const framingBytes = 128

export function createWaitingDrafts(left: readonly Draft[], limitBytes: number): WaitingDrafts {
  const byKey = new Map(left.map(draft => [draftKey(draft), draft]))
  const tried = new Set<string>()
  let underway = new Set<string>()
  let bytes = left.reduce((sum, draft) => sum + sizeOf(draft), 0)

  return {
    get all() {
      return [...byKey.values()]
    },
    get size() {
      return byKey.size
    },
    get: draft => byKey.get(draftKey(draft)),
    reserve(draft) {
      bytes += sizeOf(draft)
    },
    unreserve(draft) {
      bytes -= sizeOf(draft)
    },
    add: draft => void byKey.set(draftKey(draft), draft),
    remove(draft) {
      const key = draftKey(draft)
      const known = byKey.get(key)
      tried.delete(key)
      if (known) bytes -= sizeOf(known)
      return byKey.delete(key)
    },
    hasRoom: draft => bytes + sizeOf(draft) <= limitBytes,
    expendableFor(draft) {
      const passing: Draft[] = []
      let room = limitBytes - bytes
      for (const [key, waiting] of byKey) {
        if (room >= sizeOf(draft)) break
        if (!waiting.isPassing || underway.has(key)) continue
        passing.push(waiting)
        room += sizeOf(waiting)
      }
      return passing
    },
    nextBatch(most) {
      const batch: Draft[] = []
      let bytes = 0
      for (const draft of byKey.values()) {
        if (batch[0] && draft.session !== batch[0].session) continue
        bytes += sizeOf(draft)
        if (batch.length === most || (batch.length > 0 && bytes > mostBytesPerBatch)) break
        batch.push(draft)
      }
      return batch
    },
    setUnderway(drafts) {
      underway = new Set(drafts.map(draftKey))
      for (const key of underway) tried.add(key)
    },
    isUnderway: draft => underway.has(draftKey(draft)),
    wasTried: draft => tried.has(draftKey(draft)),
    noteTried: draft => void tried.add(draftKey(draft))
  }
}

function sizeOf({ content, localId }: Draft): number {
  return content.length + localId.length + framingBytes
}
