import { computed, type ReadonlySignal } from '@preact/signals'
import { isStale } from '../../core/connection.ts'
import { live } from '../account/account.ts'
import type { Live } from '../account/live.ts'
import type { Reply } from './replies.ts'
import type { WaitingStart } from './starts.ts'

/** Entries that this device sends automatically, as soon as it can. */
export interface UnsentEntries {
  readonly starts: readonly WaitingStart[]
  readonly replies: readonly Reply[]
  /** Messages, by session; only while offline, since otherwise they are sent in a moment. */
  readonly messages: readonly { session: string; count: number }[]
}

/** Undefined if there are none. */
export const unsent: ReadonlySignal<UnsentEntries | undefined> = computed(() => {
  const link = live.value
  return link && unsentIn(link, isStale.value)
})

export function unsentIn(link: Pick<Live, 'unsent' | 'queue'>, isOffline: boolean): UnsentEntries | undefined {
  const counts = new Map<string, number>()
  if (isOffline) for (const { session } of link.unsent.value) counts.set(session, (counts.get(session) ?? 0) + 1)
  const starts = link.queue.of('start')
  const replies = link.queue.of('reply').filter(({ state }) => state.type === 'queued')
  const messages = [...counts].map(([session, count]) => ({ session, count }))
  return starts.length + replies.length + messages.length === 0 ? undefined : { starts, replies, messages }
}
