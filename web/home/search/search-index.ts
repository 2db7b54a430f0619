import { type ReadonlySignal, signal } from '@preact/signals'
import { coalesce } from '../../../lib/async/coalesce.ts'
import { pause } from '../../../lib/async/pause.ts'
import { type Cipher, openMessage } from '../../../lib/client/index.ts'
import { sessionId } from '../../../lib/protocol/wire/ids.ts'
import type { MessageRecord } from '../../../lib/protocol/wire/records.ts'
import * as v from '../../../lib/schema.ts'
import { deviceDb } from '../../core/device-db.ts'
import type { Live } from '../../model/account/live.ts'
import { home } from '../../model/home.ts'
import { type Hit, hasWords, type Line, wordsOf } from '../../model/search-text.ts'
import { lastMovedAt } from '../../model/sessions.ts'
import type { SessionView } from '../../model/store.ts'
import { transcriptEvents } from '../../model/transcript/message.ts'
import { type ReadPlace, unindexedPages } from './unindexed-messages.ts'

/** Progress of indexing; undefined when everything is indexed. */
export interface IndexProgress {
  readonly done: number
  readonly all: number
}

const known = new Map<string, Kept>()
const readingNow = signal<IndexProgress | undefined>(undefined)
const versionNow = signal(0)

export const reading: ReadonlySignal<IndexProgress | undefined> = readingNow
/** Changes whenever more can be found. */
export const version: ReadonlySignal<number> = versionNow

/** The messages of one session, up to the indexed position. */
interface Kept extends ReadPlace {
  readonly lines: readonly Line[]
}

// Bounded, so that a large account fills neither the device's disk nor its memory.
const mostSessions = 300
const mostCharacters = 100_000
const longestLine = 4_000
const openedAtOnce = 20
const restMs = 4_000

let started: { link: Live; stop(): void } | undefined

/**
 * Indexes the messages of recently active sessions, a little at a time, and stores the index sealed on this device; continues with new messages.
 * Nothing of it leaves the device. Each start is for one link.
 */
export function startIndexing(link: Live): void {
  if (started?.link === link) return
  started?.stop()
  const ended = new AbortController()
  const readSoon = coalesce<undefined>(async () => {
    await readAll(link, ended.signal)
    await pause(restMs)
  })
  const follow = home.subscribe(() => {
    // The next round finds messages that arrived meanwhile, and makes up for a failed one.
    if (!ended.signal.aborted) readSoon(undefined).catch(() => {})
  })
  started = {
    link,
    stop() {
      ended.abort()
      follow()
      known.clear()
    }
  }
}

/** Newest first. `session`: only there. */
export function searchMessages(query: string, session?: string): Hit[] {
  const words = wordsOf(query)
  if (words.length === 0) return []
  const hits: Hit[] = []
  for (const [id, { lines }] of known) {
    if (!home.peek().sessions.has(id) || (session !== undefined && session !== id)) continue
    for (const line of lines) if (hasWords(line.text, words)) hits.push({ ...line, session: id })
  }
  return hits.sort((a, b) => b.at - a.at).slice(0, mostHits)
}

const mostHits = 100

async function readAll(link: Live, signal: AbortSignal): Promise<void> {
  const db = await deviceDb()
  for (const id of known.keys()) {
    if (home.peek().sessions.has(id)) continue
    known.delete(id)
    await db.remove(entry(id))
  }
  const sessions = [...home.peek().sessions.values()].sort((a, b) => lastMovedAt(b) - lastMovedAt(a)).slice(0, mostSessions)
  const behind = sessions.filter(({ id, seq }) => (known.get(id)?.upTo ?? -1) < seq)
  for (const [done, session] of behind.entries()) {
    if (signal.aborted) return
    readingNow.value = { done, all: behind.length }
    await readOne(link, session, signal).catch(() => {})
  }
  readingNow.value = undefined
}

async function readOne(link: Live, { id, seq }: SessionView, signal: AbortSignal): Promise<void> {
  const db = await deviceDb()
  const cipher = link.cipherOf(id)
  if (!cipher) return
  const kept = known.get(id) ?? readKept(await db.read(entry(id)))
  let now = kept
  const params = { id: v.parse(sessionId, id) }
  for await (const { isAnew, messages } of unindexedPages(
    query => link.rest.call('readMessages', { params, query }, { signal }),
    kept,
    seq
  )) {
    const lines = await linesOf(messages, cipher)
    const last = messages.at(-1)
    const before = isAnew ? undefined : now
    now = {
      upTo: last?.seq ?? before?.upTo ?? seq,
      at: last?.createdAt ?? before?.at ?? 0,
      lines: newest([...(before?.lines ?? []), ...lines])
    }
  }
  now ??= { upTo: 0, at: 0, lines: [] }
  if (signal.aborted) return
  known.set(id, now)
  versionNow.value++
  // Without space, the index lasts as long as the app is open.
  if (now !== kept) await db.write(entry(id), now).catch(() => {})
}

async function linesOf(messages: readonly MessageRecord[], cipher: Cipher): Promise<Line[]> {
  const lines: Line[] = []
  for (const [index, record] of messages.entries()) {
    if (index % openedAtOnce === 0) await idle()
    const message = openMessage(cipher, record)
    if (message.ok) lines.push(...linesIn(record, message.body))
  }
  return lines
}

type Body = Extract<ReturnType<typeof openMessage>, { ok: true }>['body']

function linesIn({ seq, localId, createdAt: at }: MessageRecord, body: Body): Line[] {
  return transcriptEvents({ seq, localId, at, body }).flatMap(event => {
    if (event.type === 'mine') return { seq, at, by: 'me' as const, text: event.text.slice(0, longestLine) }
    const isSaid = event.type === 'text' && !event.thinking && event.text.trim() !== ''
    return isSaid ? { seq, at, by: 'agent' as const, text: event.text.slice(0, longestLine) } : []
  })
}

function newest(lines: readonly Line[]): Line[] {
  const kept: Line[] = []
  let characters = 0
  for (const line of lines.toReversed()) {
    characters += line.text.length
    if (characters > mostCharacters) break
    kept.push(line)
  }
  return kept.toReversed()
}

// The person's own actions come first.
function idle(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: 500 })
  else setTimeout(resolve, 30)
  return promise
}

const entry = (id: string) => `said.${id}`

// Only this file writes the entry, and it is sealed.
function readKept(kept: unknown): Kept | undefined {
  return typeof kept === 'object' && kept !== null && 'upTo' in kept && 'at' in kept && 'lines' in kept ? (kept as Kept) : undefined
}
