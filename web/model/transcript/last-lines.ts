import { type AccountFeed, type Cipher, type LiveSocket, openMessage, type Rest } from '../../../lib/client/index.ts'
import type { MessageRecord } from '../../../lib/protocol/wire/records.ts'
import { isOn } from '../../core/preferences.ts'
import { home, updateHome } from '../home.ts'
import type { LastLine } from '../store.ts'
import { endedIn, lineOf } from './last-line.ts'

/**
 * Maintains the last line of every recently active session. Live messages are read as they arrive; for sessions that changed
 * while this device was offline, the newest messages are fetched, a few sessions at a time.
 */
export function followLines(deps: {
  rest: Pick<Rest, 'call'>
  socket: Pick<LiveSocket, 'onUpdate'>
  feed: Pick<AccountFeed, 'sessions' | 'state'>
  cipherOf(session: string): Cipher | undefined
  /** Messages of this device itself, which the server does not echo. */
  onStored(listener: (messages: readonly MessageRecord[], session: string) => void): () => void
}): { close(): void } {
  const stopped = new AbortController()
  const read = (messages: readonly MessageRecord[], session: string) => {
    const cipher = deps.cipherOf(session)
    if (cipher) tell(session, newsOf(cipher, messages))
  }
  const stopUpdates = deps.socket.onUpdate(({ body }) => {
    if (body.t === 'new-message') read([body.message], body.sid)
  })
  const stopStored = deps.onStored(read)

  const catchUp = async () => {
    if (isOn('lowData')) return
    const behind = [...home.peek().sessions.values()]
      .filter(({ seq, last, updatedAt }) => seq > (last?.seq ?? 0) && Date.now() - updatedAt < recentMs)
      .sort((a, b) => b.updatedAt - a.updatedAt)
      .slice(0, mostSessions)
    const next = behind[Symbol.iterator]()
    await Promise.all(Array.from({ length: atOnce }, () => fetchEach(next, deps, stopped.signal)))
  }
  let caughtUpTo: number | undefined
  const stopHome = home.subscribe(({ asOf }) => {
    if (asOf === undefined || asOf === caughtUpTo) return
    caughtUpTo = asOf
    // Messages that cannot be fetched now are fetched after the next listing.
    catchUp().catch(() => {})
  })

  return {
    close() {
      stopped.abort()
      stopUpdates()
      stopStored()
      stopHome()
    }
  }
}

const recentMs = 7 * 24 * 3600_000
const mostSessions = 40
const atOnce = 3
const messagesToLookAt = 12

async function fetchEach(
  next: Iterator<{ id: string; seq: number }>,
  {
    rest,
    feed,
    cipherOf
  }: { rest: Pick<Rest, 'call'>; feed: Pick<AccountFeed, 'sessions'>; cipherOf(session: string): Cipher | undefined },
  signal: AbortSignal
): Promise<void> {
  for (let step = next.next(); !step.done; step = next.next()) {
    const { id, seq } = step.value
    const row = [...feed.sessions.values()].find(session => session.id === id)
    const cipher = cipherOf(id)
    if (!row || !cipher) continue
    const page = await rest.call(
      'readMessages',
      { params: { id: row.id }, query: { before_seq: seq + 1, limit: messagesToLookAt } },
      { signal }
    )
    const { line, ended } = newsOf(cipher, page.messages)
    tell(id, { line: line && { ...line, seq: Math.max(line.seq, seq) }, ended })
  }
}

interface News {
  line: LastLine | undefined
  ended: ReturnType<typeof endedIn>
}

function tell(id: string, { line, ended }: News): void {
  if (line) updateHome({ type: 'line', id, line })
  for (const step of ended) updateHome({ type: 'step-ended', id, ...step })
}

/** The line of the newest message that has one, and the steps that ended since. */
function newsOf(cipher: Cipher, messages: readonly MessageRecord[]): News {
  const newestFirst = [...messages].sort((a, b) => b.seq - a.seq)
  const ended: News['ended'] = []
  for (const record of newestFirst) {
    const message = openMessage(cipher, record)
    if (!message.ok) continue
    const line = lineOf(message.body)
    ended.push(...endedIn(message.body))
    if (line) return { line: { ...line, seq: record.seq, at: record.createdAt }, ended }
  }
  return { line: undefined, ended }
}
