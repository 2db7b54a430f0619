import { createPersistence } from '../../client/link/persist.ts'
import { mayRetry, Refused, Unreachable } from '../../client/link/refusals.ts'
import type { Rest } from '../../client/link/rest.ts'
import { isDeleted, wasRemoved } from '../../client/outbox/removals.ts'
import { type SealingKey, terminalVault } from '../../client/sealed/vault.ts'
import { fromBase64, toBase64 } from '../../crypto/bytes.ts'
import type { Cipher } from '../../crypto/envelopes.ts'
import { type AgentState, agentState, type SessionMetadata, sessionMetadata } from '../../protocol/sealed/session.ts'
import type { SessionRecord } from '../../protocol/wire/records.ts'
import * as v from '../../schema.ts'
import type { Credentials, Home } from '../home/credentials.ts'
import { registerMachine } from '../home/machine.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import type { UplinkCells } from './cells.ts'
import type { Link } from './link.ts'

/** The session on the server: opened there once, however many ask. */
export interface Opening {
  /** The server's id of the session, once it was opened there. */
  readonly id: string | undefined
  open(): Promise<string>
  /** The server does not know it any more: it is opened there anew the next time. */
  forget(): void
}

export interface OpeningOptions {
  rest: Rest
  home: Pick<Home, 'path' | 'machineId'>
  credentials: Credentials
  folder: SessionFolder
  key: SealingKey
  cells: Pick<UplinkCells, 'metadata' | 'state'>
  /** Aborted when it may be another process's meanwhile. */
  signal: AbortSignal
  onOpened(record: SessionRecord): void
  /** The server has it under another id than before: its messages are numbered from 1 again, and those before are not there. */
  onNumberedAnew?: (() => void) | undefined
  /** It was deleted while no process of it ran; by its tag it would be made anew. */
  onDeleted(): void
  /** What the server has of it does not open with its key. */
  onOtherKey(): void
}

export function createOpening(options: OpeningOptions): Opening {
  const { folder, key, cells, signal, onOpened, onDeleted, onOtherKey, onNumberedAnew, ...to } = options
  let id: string | undefined
  let opening: Promise<string> | undefined
  let isForgotten = false

  async function post(): Promise<string> {
    const { id: earlier } = folder.notes
    if (earlier !== undefined && !isForgotten && (await isDeleted(to.rest, earlier, signal).catch(keepTrying))) {
      onDeleted()
      throw new Refused(404, 'Session not found')
    }
    const { metadata, state } = cells
    const record = await openOnServer(to, { ...folder.notes, key, metadata, state })
    if (record === 'other-key') {
      onOtherKey()
      throw new Refused(403, 'the session is sealed with another key')
    }
    signal.throwIfAborted()
    const { id: before, handing } = folder.notes
    id = record.id
    folder.note({ id, ...(before !== undefined && before !== id && withoutNumbers(handing)) })
    if (before !== undefined && before !== id) onNumberedAnew?.()
    onOpened(record)
    return record.id
  }

  return {
    get id() {
      return id
    },
    async open() {
      if (id !== undefined) return id
      opening ??= post().finally(() => {
        opening = undefined
      })
      return opening
    },
    forget() {
      id = undefined
      isForgotten = true
      folder.note({ isUntagged: false })
    }
  }
}

/** A number of before would hide what is said to the session from now on. */
function withoutNumbers(handing: SessionNotes['handing']): Partial<SessionNotes> {
  const { localId, text } = handing ?? {}
  return { cursor: 0, settled: [], heardUpTo: 0, handing: text === undefined ? handing : { seq: null, localId, text } }
}

/**
 * Opens the session on the server, or finds it there. `other-key` when what the server has of it does not open with its key.
 */
async function openOnServer(
  to: { rest: Rest; home: Pick<Home, 'path' | 'machineId'>; credentials: Credentials },
  session: Pick<SessionNotes, 'tag' | 'id' | 'isUntagged'> & { key: SealingKey; metadata: SessionMetadata; state: AgentState }
): Promise<SessionRecord | 'other-key'> {
  const { rest, home, credentials } = to
  // Each session does so, as those of existing wrappers do: the app shows where it runs.
  await registerMachine(rest, home, credentials.keys).catch(keepTrying)
  const { tag, id, isUntagged, metadata, state } = session
  const { cipher, wrapped } = session.key
  const record = isUntagged && id !== undefined ? await findOnServer(rest, id).catch(keepTrying) : await open()
  if (!record) throw new Refused(404, 'Session not found')
  return readSession(record, cipher) ? record : 'other-key'

  async function open(): Promise<SessionRecord> {
    const body = { tag, metadata: cipher.seal(metadata), agentState: cipher.seal(state), dataEncryptionKey: wrapped }
    return (await rest.call('openSession', { body }).catch(keepTrying)).session
  }
}

/** The session of this id, which may have changed last long ago; undefined when the account has none. */
export async function findOnServer(rest: Rest, id: string, signal?: AbortSignal): Promise<SessionRecord | undefined> {
  const { sessions: latest } = await rest.call('listSessions', {}, { signal })
  let found: SessionRecord | undefined = latest.find(session => session.id === id)
  for (let cursor: string | null | undefined; !found && cursor !== null; ) {
    const query = { limit: mostInPage, ...(cursor !== undefined && { cursor }) }
    const page = await rest.call('pageSessions', { query }, { signal })
    found = page.sessions.find(session => session.id === id)
    cursor = page.hasNext ? page.nextCursor : null
  }
  return found
}

const mostInPage = 200

/** What it tells of itself; undefined when it was sealed with another key, which must not be mixed with what this one seals. */
export function readSession({ metadata, agentState: state }: SessionRecord, cipher: Cipher): SessionMetadata | undefined {
  const opened = cipher.open(metadata)
  const { data } = v.safeParse(sessionMetadata, opened.ok ? opened.value : undefined)
  return state === null || isState(cipher.open(state)) ? data : undefined
}

function isState(opened: ReturnType<Cipher['open']>): boolean {
  return opened.ok && v.safeParse(agentState, opened.value).success
}

/** A refusal to open the session is no verdict on the messages that wait for it, unless the token is no longer good. */
function keepTrying(error: unknown): never {
  const isFinal = error instanceof Refused && (error.status === 401 || error.status === 403)
  if (isFinal || mayRetry(error)) throw error
  throw new Unreachable('strange-answer', { cause: error })
}

interface UnknownSessionOptions {
  rest: Rest
  link: Pick<Link, 'enter'>
  signal: AbortSignal
  /** The server's id of the session now. */
  current(): string | undefined
  /** Resolves when it is open. */
  openAgain(): Promise<unknown>
}

/**
 * What becomes of a session of which the server says that it has none. One that was deleted is over. One that a server does not know
 * because it was put back to an older state is opened there again: nothing that waits for it may be lost by that.
 */
export function createUnknownSession({ rest, link, signal, current, openAgain }: UnknownSessionOptions) {
  const persistence = createPersistence({ signal })
  const lost = new Set<string>()
  let asking: Promise<boolean> | undefined

  async function ask(session: string): Promise<boolean> {
    const isRemoved = await persistence.attempt(signal => wasRemoved(rest, session, signal))
    // One that was opened again and is unknown once more would be opened without end.
    const isOpenedAgain = isRemoved === false && !lost.has(session)
    if (isOpenedAgain) {
      lost.add(session)
      // Until then others that were refused under its name of before wait with it.
      await openAgain()
    } else link.enter({ type: isRemoved ? 'gone' : 'unknown' })
    return isOpenedAgain
  }

  return {
    /** Whether this one is opened again, or was. Rejects when the server cannot be asked. */
    async isOpenedAgain(session: string): Promise<boolean> {
      if (current() !== session) return true
      asking ??= ask(session).finally(() => {
        asking = undefined
      })
      return asking
    }
  }
}

/** The key of a new session, in base64; null when it is sealed with the secret of its account. */
export function newSessionKey({ keys }: Credentials): string | null {
  const vault = terminalVault(keys)
  return vault.version === 1 ? null : toBase64(vault.newSessionKey().raw)
}

/** The same, from how it was noted. */
export function openSessionKey({ keys }: Credentials, noted: string | null): SealingKey {
  const vault = terminalVault(keys)
  const raw = noted === null ? undefined : fromBase64(noted)
  return raw ? vault.openSessionKey(raw) : vault.newSessionKey()
}
