import { createOrder, type Order } from '../../../lib/client/index.ts'
import type { SealedBy } from '../../../lib/protocol/sealed/sealed-for.ts'
import type { KnownMessage } from './message.ts'

/** How far the numbers of each sender have come. */
export interface Senders {
  readonly order: Order
  /** Messages that did not open, by now and when each sender was heard last: one of them may be what is missing. */
  closed: number
  readonly closedBefore: Map<string, number>
  /** Places that say what is missing. */
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

/** What the next message shows to be wrong; undefined when it is in its place, or does not say who wrote it. */
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
