import type { ReadonlySignal } from '@preact/signals'
import type { DeviceDb } from '../../core/device-db.ts'
import { type Continuation, type ContinuationSources, continuations } from './continuations.ts'
import { type DurableQueue, openQueue } from './durable-queue.ts'
import { type Reply, type ReplySources, replies } from './replies.ts'
import { type StartSources, starts, type WaitingStart } from './starts.ts'

/** All kinds of entries in the queue of this device; a new kind is a new row here. */
export type DeviceQueue = DurableQueue<Reply | WaitingStart | Continuation>

export function openDeviceQueue(sources: {
  readonly replies: ReplySources
  readonly starts: StartSources
  readonly continuations: ContinuationSources
  readonly isLinked: ReadonlySignal<boolean>
  readonly db?: () => Promise<Pick<DeviceDb, 'read' | 'write' | 'remove'>>
}): DeviceQueue {
  const { isLinked, db } = sources
  return openQueue<Reply | WaitingStart | Continuation>({
    isLinked,
    db,
    kinds: { reply: replies(sources.replies), start: starts(sources.starts), continuation: continuations(sources.continuations) }
  })
}
