import { join } from 'node:path'
import { WebSocket } from 'ws'
import { pause } from '../../../async/pause.ts'
import { openAccountFeed } from '../../../client/feed/account-feed.ts'
import { createRest, type Fetch, type TokenSource } from '../../../client/link/rest.ts'
import { openSocket } from '../../../client/link/socket.ts'
import { envelopeOf, openMessage } from '../../../client/sealed/messages.ts'
import { terminalVault } from '../../../client/sealed/vault.ts'
import { fromBase64 } from '../../../crypto/bytes.ts'
import type { SessionId } from '../../../protocol/wire/ids.ts'
import type { SessionRecord } from '../../../protocol/wire/records.ts'
import * as v from '../../../schema.ts'
import type { Credentials, Home } from '../../home/credentials.ts'
import { readPrivateFile, writePrivateFile } from '../../home/private-files.ts'
import { findLeftovers, type KnownSession, listOpenSessions, listSessions } from '../../home/session-folder.ts'
import { recoverSessions, writeToEndedSession } from '../../session/recovery.ts'
import type { Resumer } from '../launch/resume.ts'
import { openEndedSessions } from './ended-sessions.ts'
import { createWaker, type Sleeper, type WakeNotes } from './wake.ts'

interface CatchUpOptions {
  home: Home
  credentials: Credentials
  token: string | TokenSource
  fetch: Fetch
  resumer: Resumer
  signal: AbortSignal
  tell(line: string): void
}

interface CatchUp {
  /** The sessions of this computer that work right now, by their ids. */
  working(): string[]
  close(): Promise<void>
}

const lookEveryMs = 30_000
const soonMs = 300
const leftoverWithinMs = 60_000

/**
 * Follows changes in the account, and resumes this computer's sessions with waiting messages from a person,
 * including those sent while the daemon or the server was down. What killed sessions left is delivered
 * first.
 */
export function openCatchUp(options: CatchUpOptions): CatchUp {
  const { home, credentials, token, fetch, resumer, signal, tell } = options
  const { server } = credentials
  const rest = createRest({ server, token, fetch })
  // As an app, whose connection gets every session; one that does not report being in use suppresses no
  // phone notifications.
  const socket = openSocket({ server, token, scope: { as: 'app' }, WebSocket })
  const ended = openEndedSessions(home.path)
  const stored = openNotes(join(home.path, 'daemon', 'wakes.json'))
  let bell = new AbortController()
  const ring = () => bell.abort()
  // Sessions send a keepalive every few seconds.
  const heard = new Map<string, string>()
  const isNews = ({ id, seq, active }: SessionRecord) => {
    const now = `${seq} ${active}`
    const isSame = heard.get(id) === now
    heard.set(id, now)
    return !isSame
  }
  const feed = openAccountFeed({
    rest,
    socket,
    onChange(change) {
      if (change.type === 'started-over') stored.notes.clear()
      if (change.type === 'listed' || (change.type === 'session' && isNews(change.session))) ring()
    }
  })
  const waking = createWaker({
    notes: stored.notes,
    save: stored.save,
    lastUnread: (id, after) => lastUnread(find(home.path, id), after),
    async wake(id) {
      tell(`resumes ${id} for a new message`)
      await resumer.resume(id).catch(error => {
        tell(`could not resume ${id}: ${error instanceof Error ? error.message : String(error)}`)
        throw error
      })
    },
    async tellFailed(id, why) {
      const known = find(home.path, id)
      await writeToEndedSession(known, `Afield could not resume this session: ${why}\nSend another message to retry.`, {
        home,
        fetch,
        withinMs: leftoverWithinMs,
        signal
      })
    }
  })

  async function lastUnread({ notes }: KnownSession, after: number): Promise<number | undefined> {
    const vault = terminalVault(credentials.keys)
    const raw = notes.key === null ? undefined : fromBase64(notes.key)
    const { cipher } = raw ? vault.openSessionKey(raw) : vault.newSessionKey()
    const unread = new Map<string, number>()
    for (let from = after; ; ) {
      const page = await rest.call(
        'readMessages',
        { params: { id: notes.id ?? '' }, query: { after_seq: from, limit: pageSize } },
        { signal }
      )
      for (const message of page.messages) {
        from = Math.max(from, message.seq)
        const opened = openMessage(cipher, message)
        if (!opened.ok) continue
        const { body } = opened
        const ev = envelopeOf(body)?.ev
        if (ev?.t === 'withdraw') unread.delete(ev.localId)
        if (body.role === 'user' && body.meta?.sentFrom !== 'cli')
          unread.set(body.meta?.replaces ?? message.localId ?? message.id, message.seq)
      }
      if (!page.hasMore || page.messages.length === 0) break
    }
    return unread.size === 0 ? undefined : Math.max(...unread.values())
  }

  /** Ended sessions that the account has. */
  function sleepers(): Sleeper[] {
    return ended.all().flatMap(session => {
      const row = session.server === server ? feed.sessions.get(session.id as SessionId) : undefined
      return row ? [{ ...session, seq: row.seq }] : []
    })
  }

  async function look(): Promise<number> {
    if (feed.state.type !== 'live') return lookEveryMs
    if (findLeftovers(home.path).length > 0) await recoverSessions({ home, fetch, withinMs: leftoverWithinMs, signal, server })
    const isAnyEnding = listOpenSessions(home.path).some(({ pid, notes }) => pid !== undefined && notes.isEnding)
    const again = await waking.look(sleepers())
    if (isAnyEnding) return soonMs
    return again === undefined ? lookEveryMs : Math.max(soonMs, again - performance.now())
  }

  async function follow(): Promise<void> {
    while (!signal.aborted) {
      bell = new AbortController()
      const waitMs = await look().catch(error => {
        if (!signal.aborted) tell(`catch-up: ${error instanceof Error ? error.message : String(error)}`)
        return lookEveryMs
      })
      const first = AbortSignal.any([signal, bell.signal])
      await pause(Math.min(waitMs, lookEveryMs), { signal: first }).catch(() => {})
      // Changes come in groups.
      if (bell.signal.aborted && !signal.aborted) await pause(soonMs, { signal }).catch(() => {})
    }
  }

  const following = follow()
  return {
    working() {
      const own = new Set(listOpenSessions(home.path).flatMap(({ pid, notes }) => (pid === undefined ? [] : (notes.id ?? []))))
      return [...feed.sessions.values()].filter(({ id, thinking }) => thinking && own.has(id)).map(({ id }) => id)
    },
    async close() {
      feed.close()
      socket.close()
      await following
    }
  }
}

const pageSize = 200

function find(home: string, id: string): KnownSession {
  const known = listSessions(home).find(({ notes }) => notes.id === id)
  if (!known) throw new Error('This computer does not know the session.')
  return known
}

const kept = v.record(
  v.string(),
  v.object({
    lookedUpTo: v.number(),
    unread: v.optional(v.number()),
    reason: v.optional(v.string()),
    attempts: v.number(),
    why: v.optional(v.string()),
    isTold: v.optional(v.boolean())
  })
)

/** On disk, so that a restarted daemon continues counting. */
function openNotes(file: string): { notes: Map<string, WakeNotes>; save(): void } {
  const { data = {} } = v.safeParse(kept, v.jsonOf(readPrivateFile(file)))
  const notes = new Map<string, WakeNotes>(Object.entries(data).map(([id, known]) => [id, { ...known, nextAt: 0 }]))
  let written = ''
  return {
    notes,
    save() {
      const text = JSON.stringify(Object.fromEntries([...notes].map(([id, { nextAt: _, ...rest }]) => [id, rest])))
      if (text === written) return
      writePrivateFile(file, text)
      written = text
    }
  }
}
