import type { MessageRecord } from '../../../lib/protocol/wire/records.ts'

/** The last message that was indexed. Its time shows whether the number still means the same one. */
export interface ReadPlace {
  readonly upTo: number
  readonly at: number
}

type Page = { messages: readonly MessageRecord[]; hasMore: boolean }
type Ask = (query: { after_seq: number; limit: number } | { before_seq: number; limit: number }) => Promise<Page>

const pageSize = 100
/** How many of the newest messages to index when a session is read for the first time. */
const mostMessages = 300

/**
 * The unindexed messages of a session, up to number `seq`, ascending and in pages. `isAnew`: there are none before
 * them, or those were from before a restore of the server. Numbers are no counts: a restored server skips millions.
 */
export async function* unindexedPages(
  ask: Ask,
  place: ReadPlace | undefined,
  seq: number
): AsyncGenerator<{ isAnew: boolean; messages: readonly MessageRecord[] }> {
  if (seq === 0 || seq === place?.upTo) return
  const known =
    place !== undefined && place.upTo > 0 && place.upTo < seq ? await ask({ after_seq: place.upTo - 1, limit: pageSize }) : undefined
  const isSame = known?.messages[0]?.seq === place?.upTo && known?.messages[0]?.createdAt === place?.at
  if (known === undefined || !isSame) {
    yield { isAnew: true, messages: await readNewest(ask, seq) }
    return
  }
  yield { isAnew: false, messages: known.messages.slice(1) }
  for (let page = known; page.hasMore; ) {
    const last = page.messages.at(-1)?.seq
    if (last === undefined || last >= seq) return
    page = await ask({ after_seq: last, limit: pageSize })
    yield { isAnew: false, messages: page.messages }
  }
}

async function readNewest(ask: Ask, seq: number): Promise<MessageRecord[]> {
  const newestFirst: MessageRecord[] = []
  for (let before: number | undefined = seq + 1; before !== undefined && newestFirst.length < mostMessages; ) {
    const { messages, hasMore }: Page = await ask({ before_seq: before, limit: pageSize })
    newestFirst.push(...messages)
    before = hasMore ? messages.at(-1)?.seq : undefined
  }
  return newestFirst.toReversed()
}
