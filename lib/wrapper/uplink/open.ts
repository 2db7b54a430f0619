import { mayRetry, Refused, Unreachable } from '../../client/link/refusals.ts'
import type { Rest } from '../../client/link/rest.ts'
import { createRetrier } from '../../client/link/retry.ts'
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

/** The session on the server, opened once for all callers. */
export interface Opening {
  /** The server's id of the session, once opened. */
  readonly id: string | undefined
  open(): Promise<string>
  /** The server no longer knows it: it is opened again next time. */
  forget(): void
}

export interface OpeningOptions {
  rest: Rest
  home: Pick<Home, 'path' | 'machineId'>
  credentials: Credentials
  folder: SessionFolder
  key: SealingKey
  cells: Pick<UplinkCells, 'metadata' | 'state'>
  /** Aborted if another process may own the session. */
  signal: AbortSignal
  onOpened(record: SessionRecord): void
  /** The server has it under a different id than before: messages are numbered from 1 again, and earlier ones are missing. */
  onNumberedAnew?: (() => void) | undefined
  /** It was deleted while no process ran; opening it by its tag would recreate it. */
  onDeleted(): void
  /** The data on the server does not decrypt with its key. */
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
      throw new Refused(403, 'the session is encrypted with another key')
    }
    signal.throwIfAborted()
    const { id: before, pendingPrompt } = folder.notes
    id = record.id
    folder.note({ id, ...(before !== undefined && before !== id && withoutNumbers(pendingPrompt)) })
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

/** An old number would hide new messages to the session. */
function withoutNumbers(pendingPrompt: SessionNotes['pendingPrompt']): Partial<SessionNotes> {
  const { localId, text } = pendingPrompt ?? {}
  return { cursor: 0, settled: [], heardUpTo: 0, pendingPrompt: text === undefined ? pendingPrompt : { seq: null, localId, text } }
}

/**
 * Opens the session on the server, or finds it there. `other-key` if the data on the server does not decrypt with its key.
 */
async function openOnServer(
  to: { rest: Rest; home: Pick<Home, 'path' | 'machineId'>; credentials: Credentials },
  session: Pick<SessionNotes, 'tag' | 'id' | 'isUntagged'> & { key: SealingKey; metadata: SessionMetadata; state: AgentState }
): Promise<SessionRecord | 'other-key'> {
  const { rest, home, credentials } = to
  // Each session does this, like those of existing wrappers: the app shows where it runs.
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

/** The session with this id, which may not have changed for a long time; undefined if the account has none. */
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

/** Its metadata; undefined if sealed with another key, which must not be mixed with this one. */
export function readSession({ metadata, agentState: state }: SessionRecord, cipher: Cipher): SessionMetadata | undefined {
  const opened = cipher.open(metadata)
  const { data } = v.safeParse(sessionMetadata, opened.ok ? opened.value : undefined)
  return state === null || isState(cipher.open(state)) ? data : undefined
}

function isState(opened: ReturnType<Cipher['open']>): boolean {
  return opened.ok && v.safeParse(agentState, opened.value).success
}

/** A refusal to open the session says nothing about the queued messages, unless the token is invalid. */
function keepTrying(error: unknown): never {
  const isFinal = error instanceof Refused && (error.status === 401 || error.status === 403)
  if (isFinal || mayRetry(error)) throw error
  throw new Unreachable('strange-answer', { cause: error })
}

interface UnknownSessionOptions {
  rest: Rest
  link: Pick<Link, 'enter'>
  signal: AbortSignal
  /** The current id of the session on the server. */
  current(): string | undefined
  /** Resolves when it is open. */
  openAgain(): Promise<unknown>
}

/**
 * Handles a session that the server does not have. A deleted one is over. One missing because the server was
 * restored to an older state is opened there again, so that no queued message is lost.
 */
export function createUnknownSession({ rest, link, signal, current, openAgain }: UnknownSessionOptions) {
  const retrier = createRetrier({ signal })
  const lost = new Set<string>()
  let asking: Promise<boolean> | undefined

  async function ask(session: string): Promise<boolean> {
    const isRemoved = await retrier.attempt(signal => wasRemoved(rest, session, signal))
    // If it was reopened and is unknown again, reopening would loop forever.
    const isOpenedAgain = isRemoved === false && !lost.has(session)
    if (isOpenedAgain) {
      lost.add(session)
      // Until then, other requests rejected under the old id wait for it too.
      await openAgain()
    } else link.enter({ type: isRemoved ? 'gone' : 'unknown' })
    return isOpenedAgain
  }

  return {
    /** Whether the session is or was opened again. Rejects if the server cannot be asked. */
    async isOpenedAgain(session: string): Promise<boolean> {
      if (current() !== session) return true
      asking ??= ask(session).finally(() => {
        asking = undefined
      })
      return asking
    }
  }
}

/** The key of a new session, in base64; null if it is sealed with the secret of its account. */
export function newSessionKey({ keys }: Credentials): string | null {
  const vault = terminalVault(keys)
  return vault.version === 1 ? null : toBase64(vault.newSessionKey().raw)
}

/** The same, from the stored form. */
export function openSessionKey({ keys }: Credentials, noted: string | null): SealingKey {
  const vault = terminalVault(keys)
  const raw = noted === null ? undefined : fromBase64(noted)
  return raw ? vault.openSessionKey(raw) : vault.newSessionKey()
}
