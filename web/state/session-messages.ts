import { computed, effect, signal } from '@preact/signals'
import { type FeedState, openFeed, openMessage, openPartial } from '../../lib/client/index.ts'
import type { MessageRecord } from '../../lib/protocol/wire/records.ts'
import type { Live } from './live.ts'
import type { SessionSources } from './session.ts'
import { openHistory } from './session-history.ts'
import { addMessages, addPartial, emptyTranscript, type KnownMessage, type Transcript } from './transcript.ts'

/** `opening`: nothing is known yet. `stale`: how it stood when the link was lost. */
export type FeedWord = 'opening' | 'catching-up' | 'live' | 'stale' | 'deleted'

const pageSize = 100
/** Further behind than this, the newest page is read instead of all that was missed. */
const mostToCatchUp = 400
const sliceMs = 10

/** The messages of a session as a transcript: what this device kept first, then what the server has. */
export function openMessages({ id, live, session, isLinked }: Pick<SessionSources, 'id' | 'live' | 'session' | 'isLinked'>) {
  const transcript = signal<Transcript>(emptyTranscript)
  const state = signal<FeedState['type']>('away')
  const older = signal<'none' | 'more' | 'loading' | 'failed'>('none')
  const history = openHistory(id)
  let records: MessageRecord[] = []
  let reader: ReturnType<typeof openFeed> | undefined
  let isClosed = false

  const opener = createOpener(id, live, session, opened => {
    transcript.value = addMessages(transcript.peek(), opened)
    const first = transcript.peek().messages[0]
    if (older.peek() !== 'loading') older.value = first !== undefined && first.seq > 1 ? 'more' : 'none'
  })
  const take = (news: readonly MessageRecord[]): void => {
    records = [...records, ...news].slice(-mostToCatchUp)
    history.keep(records)
    opener.open(news)
  }

  const unstored = live.onStored((stored, session) => {
    if (session === id) reader?.take(stored)
  })
  const unpartial = live.socket.onEphemeral(ephemeral => {
    if (ephemeral.type !== 'partial' || ephemeral.sid !== id) return
    const cipher = live.cipherOf(id)
    const partial = cipher && openPartial(cipher, ephemeral.partial)
    // A partial must not overtake the stored text that ended it.
    if (partial) opener.afterwards(() => (transcript.value = addPartial(transcript.peek(), { ...partial, at: Date.now() })))
  })

  const begin = async (): Promise<void> => {
    const kept = await history.read()
    if (isClosed) return
    const last = kept.at(-1)
    const seq = session.peek()?.seq ?? 0
    // A server that was set back to an older copy numbers anew: then what is kept here is another story.
    const isAhead = last !== undefined && isLinked.peek() && last.seq > seq
    const isNear = last !== undefined && !isAhead && seq - last.seq <= mostToCatchUp
    if (isNear) {
      records = kept
      opener.open(kept)
    }
    reader = openFeed({
      rest: live.rest,
      socket: live.socket,
      session: id,
      after: isNear ? last.seq : 'end',
      pageSize,
      onMessages: take,
      onState: ({ type }) => opener.afterwards(() => noteState(type))
    })
    noteState(reader.state.type)
  }
  const noteState = (type: FeedState['type']): void => {
    state.value = type
    if (type === 'ended') void history.forget()
  }
  void begin()

  return {
    transcript,
    feed: computed(() => wordOf(state.value, transcript.value.messages.length > 0, isLinked.value)),
    older,
    async loadOlder(): Promise<void> {
      const first = transcript.peek().messages[0]
      if (reader === undefined || first === undefined || older.peek() === 'loading' || older.peek() === 'none') return
      older.value = 'loading'
      try {
        const page = await reader.readBefore(first.seq, pageSize)
        await opener.openNow(page.messages)
        older.value = page.hasMore ? 'more' : 'none'
      } catch {
        older.value = 'failed'
      }
    },
    close(): void {
      isClosed = true
      unstored()
      unpartial()
      opener.close()
      reader?.close()
      void history.flush()
    }
  }
}

function wordOf(state: FeedState['type'], isKnown: boolean, isLinked: boolean): FeedWord {
  if (state === 'ended') return 'deleted'
  if (!isLinked) return 'stale'
  if (state === 'live') return 'live'
  if (!isKnown) return 'opening'
  return state === 'catching-up' ? 'catching-up' : 'stale'
}

/**
 * Opens sealed messages in slices, so that a long page never holds up the screen; hands over what it opened once a batch is whole. As long as
 * the session is not known, and with it its key, everything waits.
 */
function createOpener(id: string, live: Live, session: SessionSources['session'], onOpened: (opened: KnownMessage[]) => void) {
  const queue: MessageRecord[] = []
  let opened: KnownMessage[] = []
  let later: (() => void)[] = []
  let isRunning = false

  const run = (): void => {
    if (queue.length > 0 && session.peek() === undefined) {
      isRunning = false
      return
    }
    const until = performance.now() + sliceMs
    const cipher = live.cipherOf(id)
    while (queue.length > 0 && performance.now() < until) {
      const [record] = queue.splice(0, 1)
      if (record) opened.push(known(record, cipher))
    }
    if (queue.length > 0) {
      setTimeout(run, 0)
      return
    }
    isRunning = false
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
    setTimeout(run, 0)
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
    /** Once everything taken so far is handed over. */
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

function known(record: MessageRecord, cipher: ReturnType<Live['cipherOf']>): KnownMessage {
  const { seq, localId, createdAt } = record
  const read = cipher === undefined ? { ok: false as const, reason: 'unreadable' as const } : openMessage(cipher, record)
  return read.ok ? { seq, localId, at: createdAt, body: read.body } : { seq, localId, at: createdAt, body: undefined, closed: read.reason }
}
