import { createOrder, type Order } from '../../../../lib/client/index.ts'
import type { SealedBy } from '../../../../lib/protocol/sealed/sealed-for.ts'
import type { KnownMessage } from '../message.ts'

/** The last number of each sender. */
export interface Senders {
  readonly order: Order
  /** Counts of messages that could not be decrypted, now and when each sender was last heard: one of them may be the missing one. */
  closed: number
  readonly closedBefore: Map<string, number>
  /** Places that report missing messages. */
  gaps: number
}

export function freshSenders(): Senders {
  return { order: createOrder(false), closed: 0, closedBefore: new Map(), gaps: 0 }
}

export function copySenders({ order, closed, closedBefore, gaps }: Senders): Senders {
  return { order: order.copy(), closed, closedBefore: new Map(closedBefore), gaps }
}

type Found =
  | { readonly type: 'late' | 'repeated' }
  | { readonly type: 'missing'; readonly by: SealedBy; readonly numbers: readonly number[] }

/** The fault that the next message reveals; undefined if it is in order, or names no sender. */
export function findFault(senders: Senders, message: KnownMessage): Found | undefined {
  const by = message.body?.meta?.sealedBy ?? message.by
  if (by === undefined) {
    if (message.closed === 'unreadable') senders.closed++
    return undefined
  }
  const place = senders.order.take(by)
  const closed = senders.closed - (senders.closedBefore.get(by.sender) ?? senders.closed)
  senders.closedBefore.set(by.sender, senders.closed)
  if (place.type === 'late' || place.type === 'repeated') return place
  if (place.type === 'next' || place.numbers.length <= closed) return undefined
  return { type: 'missing', by, numbers: place.numbers }
}
