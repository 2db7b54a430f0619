import { computed, effect, type ReadonlySignal, signal } from '@preact/signals'
import {
  createPartialReader,
  type Feed,
  type FeedState,
  openFeed,
  openMessageAside,
  openPartial,
  writerOf
} from '../../../lib/client/index.ts'
import type { PartialBody } from '../../../lib/protocol/sealed/messages.ts'
import type { MessageRecord } from '../../../lib/protocol/wire/records.ts'
import { trueNow } from '../../core/clock.ts'
import { noteProgress } from '../../core/connection.ts'
import type { Live } from '../account/live.ts'
import type { SessionView } from '../store.ts'
import type { KnownMessage } from '../transcript/message.ts'
import { addMessages, addPartial, emptyTranscript, type Transcript } from '../transcript/transcript.ts'
import { openHistory } from './history.ts'

/** `opening`: nothing is known yet. `stale`: the state when the connection was lost. */
export type LoadState = 'opening' | 'catching-up' | 'live' | 'stale' | 'deleted'

const pageSize = 100
/** Further behind than this, the newest page is read instead of everything missed. */
const mostToCatchUp = 400
/** Decrypted together; the page is drawn between two slices. */
const atOnce = 25
/** Of the stored messages, enough to fill the last screens; the rest is decrypted once they are drawn. */
const keptAtFirst = 50

interface MessagesSources {
  readonly id: string
  readonly live: Live
  readonly session: ReadonlySignal<SessionView | undefined>
  /** False while the account feed may be outdated. */
  readonly isLinked: ReadonlySignal<boolean>
  /** A part of growing text was missed. */
  onGap(): void
}

/** The messages of a session as a transcript: first the stored ones, then those of the server. */
export function openMessages({ id, live, session, isLinked, onGap }: MessagesSources) {
  const transcript = signal<Transcript>(emptyTranscript)
  const state = signal<FeedState['type']>('away')
  const older = signal<'none' | 'more' | 'loading' | 'failed'>('none')
  const history = openHistory(id)
  let records: MessageRecord[] = []
  let reader: ReturnType<typeof openFeed> | undefined
  let isClosed = false

  const newOpener = () => {
    const own: Opener = createOpener(id, live, session, opened => {
      if (own === opener) show(opened)
    })
    return own
  }
  // Missed messages appear together once complete, so that nothing moves repeatedly while someone reads.
  let missed: { readonly after: number; readonly opened: KnownMessage[] } | undefined
  const show = (opened: readonly KnownMessage[]): void => {
    const { after = Number.POSITIVE_INFINITY } = missed ?? {}
    missed?.opened.push(...opened.filter(({ seq }) => seq > after))
    transcript.value = addMessages(
      transcript.peek(),
      opened.filter(({ seq }) => seq <= after)
    )
    if (older.peek() !== 'loading') noteOlder()
  }
  const tellProgress = (): void => {
    const after = missed?.after ?? Number.POSITIVE_INFINITY
    const at = records.at(-1)?.seq ?? 0
    const all = Math.max(at, session.peek()?.seq ?? 0) - after
    noteProgress(all > 0 ? { done: at - after, all } : undefined)
  }
  let opener: Opener = newOpener()
  const noteOlder = (): void => {
    const first = transcript.peek().messages[0]
    older.value = first !== undefined && first.seq > 1 ? 'more' : 'none'
  }
  const take = (news: readonly MessageRecord[]): void => {
    records = [...records, ...news].slice(-mostToCatchUp)
    history.keep(records)
    opener.open(news)
    if (missed !== undefined) tellProgress()
  }

  const growth = createPartialReader(onGap)
  let grown = new Map<string, PartialBody>()
  const takePartials = (): void => {
    const all = [...grown.values()]
    grown = new Map()
    transcript.value = all.reduce((known, partial) => addPartial(known, { ...partial, at: trueNow() }), transcript.peek())
  }
  const unstored = live.onStored((stored, session) => {
    if (session === id) reader?.take(stored)
  })
  const unpartial = live.socket.onEphemeral(ephemeral => {
    if (ephemeral.type !== 'partial' || ephemeral.sid !== id) return
    const cipher = live.cipherOf(id)
    const frame = cipher && openPartial(cipher, ephemeral.partial)
    const partial = frame && growth.take(frame)
    if (partial === undefined) return
    // A partial must not overtake the stored text that ended it.
    if (grown.size === 0) opener.afterwards(takePartials)
    grown.set(partial.block, partial)
  })

  const begin = async (): Promise<void> => {
    const kept = await history.read()
    if (isClosed) return
    const last = kept.at(-1)
    const seq = session.peek()?.seq ?? 0
    // A server restored to an older copy renumbers: then the local history is another one.
    const isAhead = last !== undefined && isLinked.peek() && last.seq > seq
    const isNear = last !== undefined && !isAhead && seq - last.seq <= mostToCatchUp
    if (isNear) {
      records = kept
      older.value = 'loading'
      const own = opener
      void own.openNow(kept.slice(-keptAtFirst)).then(async () => {
        await drawn()
        await own.openNow(kept.slice(0, -keptAtFirst))
        if (own === opener) noteOlder()
      })
    }
    // Requested again: a message that now differs, or is missing, was sent before the restore.
    let unproven = isNear ? last : undefined
    const own = openFeed({
      rest: live.rest,
      socket: live.socket,
      session: id,
      after: isNear ? last.seq - 1 : 'end',
      pageSize,
      onMessages: news => {
        if (own !== reader) return
        const isSame = unproven === undefined || isOne(news[0], unproven)
        const more = unproven === undefined ? news : news.slice(1)
        unproven = undefined
        if (!isSame) startOver()
        else if (more.length > 0) take(more)
      },
      onState: ({ type }) => {
        if (own !== reader) return
        if (type === 'live' && unproven !== undefined) startOver()
        else opener.afterwards(() => own === reader && noteState(type))
      }
    })
    reader = own
    noteState(own.state.type)
  }
  const startOver = (): void => {
    reader?.close()
    reader = undefined
    opener.close()
    opener = newOpener()
    missed = undefined
    records = []
    transcript.value = emptyTranscript
    older.value = 'none'
    void history.forget().then(begin)
  }
  const noteState = (type: FeedState['type']): void => {
    const last = records.at(-1)
    if (type !== 'catching-up') {
      const { opened = [] } = missed ?? {}
      missed = undefined
      if (opened.length > 0) show(opened)
    } else if (last !== undefined) missed ??= { after: last.seq, opened: [] }
    tellProgress()
    state.value = type
    if (type === 'ended') void history.forget()
  }
  void begin()

  return {
    transcript,
    feed: computed(() => wordOf(state.value, transcript.value.messages.length > 0, isLinked.value)),
    older,
    async loadOlder(downTo?: number): Promise<void> {
      const first = transcript.peek().messages[0]
      if (reader === undefined || first === undefined || older.peek() === 'loading' || older.peek() === 'none') return
      older.value = 'loading'
      const own = opener
      const { messages, end } = await readBack(reader, first.seq, downTo)
      if (own !== opener) return
      await own.openNow(messages)
      if (own === opener) older.value = end
    },
    close(): void {
      isClosed = true
      noteProgress(undefined)
      unstored()
      unpartial()
      opener.close()
      reader?.close()
      void history.flush()
    }
  }
}

/** One page of older messages, or all down to one of them and a page more, inserted at once. */
async function readBack(
  reader: Feed,
  before: number,
  downTo = before
): Promise<{ messages: MessageRecord[]; end: 'more' | 'none' | 'failed' }> {
  let messages: MessageRecord[] = []
  for (let next = before; ; ) {
    const page = await reader.readBefore(next, Math.min(mostAtOnce, Math.max(0, next - downTo) + pageSize)).catch(() => undefined)
    if (page === undefined) return { messages, end: 'failed' }
    messages = [...page.messages, ...messages]
    next = page.messages[0]?.seq ?? 0
    if (!page.hasMore || next === 0) return { messages, end: 'none' }
    if (next <= downTo) return { messages, end: 'more' }
  }
}

/** The page size of the server. */
const mostAtOnce = 500

function wordOf(state: FeedState['type'], isKnown: boolean, isLinked: boolean): LoadState {
  if (state === 'ended') return 'deleted'
  if (!isLinked) return 'stale'
  if (state === 'live') return 'live'
  if (!isKnown) return 'opening'
  return state === 'catching-up' ? 'catching-up' : 'stale'
}

// Ids contain numbers, which start over on a restored server; sealed content and times of storage do not change.
function isOne(one: MessageRecord | undefined, other: MessageRecord): boolean {
  return one?.seq === other.seq && one.createdAt === other.createdAt && one.content.c === other.content.c
}

type Opener = ReturnType<typeof createOpener>

/**
 * Decrypts messages in slices, so that a long page never blocks the screen, and passes on complete batches. Everything waits until
 * the session, and with it its key, is known.
 */
function createOpener(id: string, live: Live, session: MessagesSources['session'], onOpened: (opened: KnownMessage[]) => void) {
  const queue: MessageRecord[] = []
  let opened: KnownMessage[] = []
  let later: (() => void)[] = []
  let isRunning = false
  // Messages that arrive faster than frames are passed on once per frame.
  let ranAt = 0

  const run = async (): Promise<void> => {
    while (queue.length > 0 && session.peek() !== undefined) {
      const cipher = live.cipherOf(id)
      opened.push(...(await Promise.all(queue.splice(0, atOnce).map(record => known(record, cipher)))))
    }
    isRunning = false
    if (queue.length > 0) return
    ranAt = performance.now()
    const batch = opened
    const after = later
    opened = []
    later = []
    if (batch.length > 0) onOpened(batch)
    for (const each of after) each()
  }
  const start = (): void => {
    if (isRunning) return
    isRunning = true
    if (performance.now() - ranAt < frameMs) void drawn().then(run)
    else setTimeout(() => void run(), 0)
  }
  const unwait = effect(() => {
    if (session.value !== undefined && queue.length > 0) start()
  })
  return {
    close: unwait,
    open(records: readonly MessageRecord[]): void {
      queue.push(...records)
      start()
    },
    /** Once everything received so far has been passed on. */
    afterwards(then: () => void): void {
      later.push(then)
      start()
    },
    openNow(records: readonly MessageRecord[]): Promise<void> {
      return new Promise(resolve => {
        queue.push(...records)
        later.push(resolve)
        start()
      })
    }
  }
}

/** After the next frame; in a hidden tab there are none. */
function drawn(): Promise<void> {
  return new Promise(resolve => {
    setTimeout(resolve, hiddenFrameMs)
    requestAnimationFrame(() => setTimeout(resolve, 0))
  })
}

const hiddenFrameMs = 100
const frameMs = 16

async function known(record: MessageRecord, cipher: ReturnType<Live['cipherOf']>): Promise<KnownMessage> {
  const { seq, localId, createdAt } = record
  const read = cipher === undefined ? { ok: false as const, reason: 'unreadable' as const } : await openMessageAside(cipher, record)
  if (read.ok) return { seq, localId, at: createdAt, body: read.body }
  return { seq, localId, at: createdAt, body: undefined, closed: read.reason, by: writerOf(read) }
}
