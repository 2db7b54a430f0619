import { withDeadline } from '../async/deadline.ts'
import { type SessionHandlers, serveSession } from '../client/calls.ts'
import { writeAgentState, writeSessionMetadata } from '../client/cell-writers.ts'
import { type Cell, openCell } from '../client/cells.ts'
import { type Feed, openFeed } from '../client/feed.ts'
import type { Draft } from '../client/journal.ts'
import { envelopeOf, type OpenedMessage, openMessage, sealDraft, sealPartial } from '../client/messages.ts'
import { type Outbox, openOutbox, sendOver } from '../client/outbox.ts'
import { createPersistence } from '../client/persist.ts'
import { mayRetry, Refused, Unreachable } from '../client/refusals.ts'
import { createRest, type Fetch, type Rest, type TokenSource } from '../client/rest.ts'
import { watchSession } from '../client/session-watch.ts'
import { type LiveSocket, openSocket } from '../client/socket.ts'
import { type SealingKey, terminalVault } from '../client/vault.ts'
import { fromBase64 } from '../crypto/bytes.ts'
import type { MessageBody, PartialBody } from '../protocol/sealed/messages.ts'
import { type AgentState, agentState, type SessionMetadata, sessionMetadata } from '../protocol/sealed/session.ts'
import type { SessionRecord } from '../protocol/wire/records.ts'
import type { Credentials, Home } from './credentials.ts'
import { keptToken } from './kept-token.ts'
import { registerMachine } from './machine.ts'
import type { Notice } from './notices.ts'
import { createPatience } from './patience.ts'
import { createReceipts, type Receipts } from './receipts.ts'
import type { SessionFolder } from './session-folder.ts'

/**
 * `unlinked`: the token is no longer good. `gone`: the session was deleted. `other-key`: what the server has of the session does not
 * open with its key; nothing is sent, and everything stays on disk. All are final for this process.
 */
export type LinkState = { type: 'connecting' | 'live' | 'unlinked' | 'gone' | 'other-key' } | { type: 'away'; reason: string }

export interface UplinkOptions {
  home: Pick<Home, 'path' | 'machineId' | 'credentials' | 'noteRenewal'>
  credentials: Credentials
  folder: SessionFolder
  fetch: Fetch
  /** What the phone may call. Nothing is answered, and nobody is told that the session lives, when they are left out. */
  handlers?: SessionHandlers | undefined
  /** Every message of the session in order, from the cursor of the folder on. Not read when left out. */
  onMessage?: ((message: OpenedMessage, about: { seq: number; localId: string | null }) => void) | undefined
  /** Another client wrote new metadata. */
  onMetadata?: ((metadata: SessionMetadata) => void) | undefined
  /** The link, or the number of messages that wait, is another. */
  onChange?: (() => void) | undefined
  /** The server will never take a message; it is kept beside the journal. */
  onSetAside?: ((refusal: Refused) => void) | undefined
  /** Too much waits: that many messages that can be done without were dropped. */
  onDropped?: ((count: number) => void) | undefined
  /** Bytes that may wait; 256 MiB unless told. */
  limitBytes?: number | undefined
}

/**
 * The way of one session to the server. It works from the first moment, with or without a server: what is put is on disk
 * when `put` resolves and reaches the server some day, in order; state is told as soon as there is somebody to tell it to.
 */
export interface Uplink {
  /** The server's id of the session, once it was opened there. */
  readonly session: string | undefined
  readonly link: LinkState
  /** Messages on disk that the server does not have yet. */
  readonly waiting: number
  put(body: MessageBody, localId?: string): Promise<void>
  /** Lost when there is no link. */
  showPartial(partial: PartialBody): void
  setThinking(thinking: boolean): void
  /** Asks the server to tell apps and phones. Lost when there is no link. */
  notify(notice: Notice): void
  /** The agent has the messages up to this one. */
  tellRead(seq: number): void
  /** Who drives the agent. */
  setControl(by: 'terminal' | 'phone'): void
  /** `change` must be pure; it is applied again to what others wrote meanwhile. */
  changeState(change: (state: AgentState) => AgentState): void
  changeMetadata(change: (metadata: SessionMetadata) => SessionMetadata): void
  /** Tries now instead of waiting. */
  hurry(): void
  /** Delivers what waits, marks the session as ended, and closes. False when something is left for another process. */
  end(within: { ms: number; signal?: AbortSignal | undefined }): Promise<boolean>
  /** Closes at once; what waits stays on disk. */
  close(): Promise<void>
}

export async function openUplink(options: UplinkOptions): Promise<Uplink> {
  const uplink = new SessionUplink(options)
  await uplink.open()
  return uplink
}

const aliveEveryMs = 2000
const archiveWithinMs = 3000

class SessionUplink implements Uplink {
  session: string | undefined
  link: LinkState = { type: 'connecting' }
  readonly #options: UplinkOptions
  readonly #key: SealingKey
  readonly #token: string | TokenSource
  readonly #rest: Rest
  readonly #end = new AbortController()
  /** Rejects once this process cannot deliver any more. */
  readonly #cut = Promise.withResolvers<never>()
  readonly #persistence = createPersistence({
    signal: this.#end.signal,
    onWait: error => this.#enter({ type: 'away', reason: error.message })
  })
  #outbox: Outbox | undefined
  #opening: Promise<string> | undefined
  #socket: LiveSocket | undefined
  #feed: Feed | undefined
  #receipts: Receipts | undefined
  #watch: { close(): void } | undefined
  #stateCell: Cell<AgentState> | undefined
  #metadataCell: Cell<SessionMetadata> | undefined
  #state: AgentState = { controlledByUser: false }
  #metadata: SessionMetadata
  /** Made before there was a cell to write them to. */
  #changes: { state: ((state: AgentState) => AgentState)[]; metadata: ((metadata: SessionMetadata) => SessionMetadata)[] }
  #thinking = false
  #mode: 'local' | 'remote' = 'remote'
  #aliveTimer: NodeJS.Timeout | undefined
  #hadLine = false
  readonly #patience = createPatience()

  constructor(options: UplinkOptions) {
    const { credentials, folder } = options
    this.#options = options
    this.#cut.promise.catch(() => {})
    this.#metadata = folder.notes.metadata
    this.#changes = { state: [], metadata: [] }
    const vault = terminalVault(credentials.keys)
    const raw = folder.notes.key === null ? undefined : fromBase64(folder.notes.key)
    this.#key = raw ? vault.openSessionKey(raw) : vault.newSessionKey()
    this.#token = keptToken(options)
    this.#rest = createRest({
      server: credentials.server,
      token: this.#token,
      fetch: options.fetch,
      connectionId: () => this.#socket?.connectionId
    })
  }

  async open(): Promise<void> {
    const send = sendOver(this.#rest)
    this.#outbox = await openOutbox({
      journal: this.#options.folder.openJournal(),
      // Drafts name the session by its tag: it may not have been opened on the server when they are written.
      send: async (_tag, messages, signal) => send(await this.#openSession(), messages, signal),
      onStored: messages => this.#feed?.take(messages),
      onSetAside: (draft, refusal) => this.#setAside(draft, refusal),
      onDropped: drafts => this.#options.onDropped?.(drafts.length),
      limitBytes: this.#options.limitBytes,
      onState: state => {
        if (state.type === 'refused') this.#enter({ type: 'unlinked' })
        this.#options.onChange?.()
      }
    })
    this.#persistence.attempt(() => this.#openSession()).catch(error => this.#giveUp(error))
  }

  get waiting(): number {
    return this.#outbox?.pending.length ?? 0
  }

  async put(body: MessageBody, localId?: string): Promise<void> {
    if (!this.#outbox) throw new Error('the uplink is not open')
    const draft = sealDraft(this.#key.cipher, this.#options.folder.notes.tag, body, localId)
    await this.#outbox.put(isPassing(body) ? { ...draft, isPassing: true } : draft)
    this.#options.onChange?.()
  }

  showPartial(partial: PartialBody): void {
    if (this.session === undefined) return
    this.#socket?.send('partial', { sid: this.session, partial: sealPartial(this.#key.cipher, partial) }, { volatile: true })
  }

  setThinking(thinking: boolean): void {
    if (this.#thinking === thinking) return
    this.#thinking = thinking
    this.#tellAlive()
  }

  setControl(by: 'terminal' | 'phone'): void {
    this.#mode = by === 'terminal' ? 'local' : 'remote'
    this.changeState(state => ({ ...state, controlledByUser: by === 'terminal' }))
    this.#tellAlive()
  }

  tellRead(seq: number): void {
    this.#receipts?.read(seq)
  }

  notify(notice: Notice): void {
    if (this.session === undefined) return
    this.#rest.call('notify', { params: { id: this.session }, body: notice }).catch(() => {})
  }

  changeState(change: (state: AgentState) => AgentState): void {
    this.#state = change(this.#state)
    if (this.#stateCell) this.#stateCell.update(change).catch(() => {})
    else this.#changes.state.push(change)
  }

  changeMetadata(change: (metadata: SessionMetadata) => SessionMetadata): void {
    this.#metadata = change(this.#metadata)
    this.#options.folder.note({ metadata: this.#metadata })
    if (this.#metadataCell) this.#metadataCell.update(change).catch(() => {})
    else this.#changes.metadata.push(change)
  }

  hurry(): void {
    this.#persistence.hurry()
    this.#socket?.reconnectNow()
    this.#outbox?.wake()
  }

  async end({ ms, signal }: { ms: number; signal?: AbortSignal | undefined }): Promise<boolean> {
    try {
      await withDeadline(ms, () => Promise.race([this.#sayGoodbye(), this.#cut.promise]), { signal })
      return true
    } catch {
      return this.link.type === 'gone'
    } finally {
      await this.close()
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#aliveTimer)
    this.#end.abort(new Error('the uplink was closed'))
    this.#stateCell?.close()
    this.#metadataCell?.close()
    this.#watch?.close()
    this.#feed?.close()
    this.#socket?.close()
    await this.#outbox?.close()
  }

  async #sayGoodbye(): Promise<void> {
    this.hurry()
    await this.#outbox?.idle()
    const id = await this.#persistence.attempt(() => this.#openSession())
    const ended = { lifecycleState: 'archived', lifecycleStateSince: Date.now() }
    await this.#metadataCell?.update(metadata => ({ ...metadata, ...ended }))
    // Shares the write of whatever change of the state is under way, and waits for it.
    await this.#stateCell?.update(state => state)
    clearInterval(this.#aliveTimer)
    this.#socket?.send('session-end', { sid: id, time: Date.now() })
    await this.#rest.call('archiveSession', { params: { id } }, { timeoutMs: archiveWithinMs })
  }

  #openSession(): Promise<string> {
    if (this.session !== undefined) return Promise.resolve(this.session)
    this.#opening ??= this.#post().finally(() => {
      this.#opening = undefined
    })
    return this.#opening
  }

  async #post(): Promise<string> {
    const { home, credentials, folder } = this.#options
    // Each session does so, as those of existing wrappers do: the app shows where it runs.
    await registerMachine(this.#rest, home, credentials.keys).catch(keepTrying)
    const { tag } = folder.notes
    const { cipher, wrapped } = this.#key
    const body = { tag, metadata: cipher.seal(this.#metadata), agentState: cipher.seal(this.#state), dataEncryptionKey: wrapped }
    const { session } = await this.#rest.call('openSession', { body }).catch(keepTrying)
    if (!this.#canRead(session)) {
      this.#enter({ type: 'other-key' })
      throw new Refused(403, 'the session is sealed with another key')
    }
    this.#goOn(session)
    return session.id
  }

  /** What was sealed with another key must not be mixed with what this one seals. */
  #canRead({ metadata, agentState: state }: SessionRecord): boolean {
    const { cipher } = this.#key
    const isKnown = (sealed: string, schema: typeof sessionMetadata | typeof agentState) => {
      const opened = cipher.open(sealed)
      return opened.ok && schema.safeParse(opened.value).success
    }
    return isKnown(metadata, sessionMetadata) && (state === null || isKnown(state, agentState))
  }

  #goOn(record: SessionRecord): void {
    const { credentials, folder, handlers, onMetadata } = this.#options
    const { cipher } = this.#key
    this.session = record.id
    folder.note({ id: record.id })
    const socket = openSocket({ server: credentials.server, token: this.#token, scope: { as: 'session', id: record.id } })
    this.#socket = socket
    this.#stateCell = openCell<AgentState>({
      cipher,
      schema: agentState,
      cell: { value: record.agentState, version: record.agentStateVersion },
      empty: {},
      socket,
      write: writeAgentState(socket, record.id)
    })
    this.#metadataCell = openCell<SessionMetadata>({
      cipher,
      schema: sessionMetadata,
      cell: { value: record.metadata, version: record.metadataVersion },
      empty: this.#metadata,
      socket,
      write: writeSessionMetadata(socket, record.id),
      onChange: metadata => {
        this.#metadata = metadata
        onMetadata?.(metadata)
      }
    })
    for (const change of this.#changes.state) this.changeState(change)
    for (const change of this.#changes.metadata) this.changeMetadata(change)
    socket.onUpdate(({ body }) => {
      if (body.t === 'delete-session' && body.sid === record.id) this.#enter({ type: 'gone' })
      if (body.t !== 'update-session' || body.id !== record.id) return
      if (body.metadata) this.#metadataCell?.take(body.metadata)
      if (body.agentState) this.#stateCell?.take(body.agentState)
    })
    socket.onState(() => this.#followSocket(socket))
    this.#watch = watchSession({
      rest: this.#rest,
      socket,
      session: record.id,
      onRow: (row, { isBack }) => this.#takeRow(row, isBack),
      onRemoved: () => this.#enter({ type: 'gone' }),
      onRefused: refusal => this.#giveUp(refusal)
    })
    if (handlers) this.#receipts = createReceipts(this.#rest, record.id, this.#end.signal)
    this.#readMessages(socket, record.id, folder.notes.cursor)
    if (handlers) {
      serveSession({ socket, cipher, session: record.id, handlers, isFresh: folder.openSeenCalls().isFresh })
      this.#aliveTimer = setInterval(() => {
        this.#tellAlive()
        this.#doubtLink()
      }, aliveEveryMs)
    }
    this.#options.onChange?.()
  }

  #readMessages(socket: LiveSocket, session: string, after: number): void {
    const { onMessage } = this.#options
    if (!onMessage) return
    this.#feed?.close()
    this.#feed = openFeed({
      rest: this.#rest,
      socket,
      session,
      after,
      onMessages: messages => {
        for (const message of messages) {
          const opened = openMessage(this.#key.cipher, message)
          if (opened.ok && opened.body.role === 'user') this.#receipts?.delivered(message.seq)
          onMessage(opened, { seq: message.seq, localId: message.localId })
        }
      },
      onState: state => {
        if (state.type === 'ended') this.#giveUp(state.refusal)
      }
    })
  }

  /** What was written while there was no link. */
  #takeRow(row: SessionRecord, isBack: boolean): void {
    const how = isBack ? 'replace' : 'take'
    this.#metadataCell?.[how]({ value: row.metadata, version: row.metadataVersion })
    this.#stateCell?.[how]({ value: row.agentState, version: row.agentStateVersion })
    // Numbers above the last one of a server that was put back will be given out again, to other messages.
    if (isBack && this.#socket && (this.#feed?.cursor ?? 0) > row.seq) this.#readMessages(this.#socket, row.id, row.seq)
  }

  #tellAlive(): void {
    if (this.session === undefined || !this.#options.handlers) return
    const alive = { sid: this.session, time: Date.now(), thinking: this.#thinking, mode: this.#mode }
    this.#socket?.send('session-alive', alive, { volatile: true })
  }

  /** A line that died in silence is noticed by what does not get away; by its own heartbeat that takes a minute. */
  #doubtLink(): void {
    const [oldest] = this.#outbox?.pending ?? []
    if (this.link.type === 'live' && this.#patience.isOver(oldest?.localId, performance.now())) this.#socket?.reconnectNow()
  }

  #followSocket(socket: LiveSocket): void {
    const { state } = socket
    switch (state.type) {
      case 'live':
        this.#enter({ type: 'live' })
        if (this.#hadLine) this.#outbox?.restart()
        else this.#outbox?.wake()
        this.#hadLine = true
        this.#receipts?.hurry()
        this.#tellAlive()
        return
      case 'down':
        this.#hadLine = true
        this.#enter({ type: 'away', reason: state.reason })
        return
      case 'refused':
        this.#enter({ type: 'unlinked' })
        return
      case 'connecting':
      case 'closed':
        return
    }
  }

  #setAside(draft: Draft, refusal: Refused): void {
    if (refusal.status === 404) this.#giveUp(refusal)
    else {
      this.#options.folder.setAside(draft, refusal.message)
      this.#options.onSetAside?.(refusal)
    }
  }

  #giveUp(error: unknown): void {
    if (this.#end.signal.aborted || !(error instanceof Refused)) return
    this.#enter({ type: error.status === 404 ? 'gone' : 'unlinked' })
  }

  #enter(link: LinkState): void {
    if (this.link.type === 'gone' || this.link.type === 'other-key' || this.#end.signal.aborted) return
    this.link = link
    if (link.type === 'gone' || link.type === 'unlinked' || link.type === 'other-key') this.#cut.reject(new Error(link.type))
    this.#options.onChange?.()
  }
}

/** Thoughts and plans: later ones and what is done take their place. */
function isPassing(body: MessageBody): boolean {
  const ev = envelopeOf(body)?.ev
  return ev?.t === 'plan' || (ev?.t === 'text' && ev.thinking === true)
}

/** A refusal to open the session is no verdict on the messages that wait for it, unless the token is no longer good. */
function keepTrying(error: unknown): never {
  const isFinal = error instanceof Refused && (error.status === 401 || error.status === 403)
  if (isFinal || mayRetry(error)) throw error
  throw new Unreachable('strange-answer', { cause: error })
}
