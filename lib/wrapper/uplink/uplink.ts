import { withDeadline } from '../../async/deadline.ts'
import { Refused } from '../../client/link/refusals.ts'
import { createRest, type Fetch, type Rest, type TokenSource } from '../../client/link/rest.ts'
import { createRetrier } from '../../client/link/retry.ts'
import type { LiveSocket } from '../../client/link/socket.ts'
import type { Outbox } from '../../client/outbox/outbox.ts'
import { giveUpDraft, type SpeakingCipher } from '../../client/sealed/messages.ts'
import { sealPreview } from '../../client/sealed/previews.ts'
import type { SealingKey } from '../../client/sealed/vault.ts'
import type { MessageBody, PartialFrame } from '../../protocol/sealed/messages.ts'
import type { AgentState, SessionMetadata } from '../../protocol/sealed/session.ts'
import type { MessageRecord, SessionRecord } from '../../protocol/wire/records.ts'
import { type Credentials, deviceToken, type Home } from '../home/credentials.ts'
import type { Notice } from '../home/notice-queue.ts'
import type { OwnNumbers } from '../home/replay-protection.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import { attachmentsOf, type SessionAttachments } from './attachments.ts'
import { createUplinkCells, type UplinkCells } from './cells.ts'
import { createLink, createStallCheck, type LinkState } from './link.ts'
import { type Live, type LiveOptions, openLive } from './live.ts'
import { watchNetwork } from './network.ts'
import { createOpening, createUnknownSession, type Opening, openSessionKey } from './open.ts'
import { createRefusedMessages, openUplinkOutbox, putBody, type RefusedMessages } from './outbox.ts'
import type { Preview } from './preview.ts'

interface UplinkOptions extends Pick<LiveOptions, 'handlers' | 'onMessage' | 'onOwn' | 'onForged' | 'onFault' | 'onForgedMessage'> {
  home: Pick<Home, 'path' | 'machineId' | 'credentials' | 'noteRenewal'>
  credentials: Credentials
  folder: SessionFolder
  fetch: Fetch
  /** Another client wrote new metadata. */
  onMetadata?: ((metadata: SessionMetadata) => void) | undefined
  /** The server permanently rejected a change of the state or the metadata. */
  onRefused?: ((why: string) => void) | undefined
  /** See `OpeningOptions`. */
  onNumberedAnew?: (() => void) | undefined
  /** The connection state or the number of queued messages changed. */
  onChange?: (() => void) | undefined
  /** The queue is full: this many expendable messages were dropped. */
  onDropped?: ((count: number) => void) | undefined
  /** Limit of the queue in bytes; 256 MiB by default. */
  limitBytes?: number | undefined
}

/**
 * The connection of one session to the server. It works from the start, with or without a server: a message is on disk
 * when `put` resolves and reaches the server eventually, in order; state is sent as soon as there is a connection.
 */
export interface Uplink {
  /** The server's id of the session, once opened. */
  readonly session: string | undefined
  readonly link: LinkState
  /** Messages on disk that the server does not have yet. */
  readonly waiting: number
  /** Set when the server accepts no more messages of the session, not even a report about that. */
  readonly trouble: string | undefined
  /** See `Outbox.put`. */
  put(body: MessageBody, localId?: string, how?: { beyondLimit?: boolean }): Promise<void>
  /** False if it was not sent: there is no connection, or it is busy. */
  showPartial(frame: PartialFrame): boolean
  /** Resolves when every message on the server has been received, immediately if nothing is being read. */
  caughtUp(): Promise<void>
  setThinking(thinking: boolean): void
  /** Notifies apps and phones through the server; `preview` is sealed for the account's devices. Rejects if the server did not accept it. */
  notify(notice: Notice, preview?: Preview): Promise<void>
  /** The agent has the messages up to this one. */
  tellRead(seq: number): void
  readonly attachments: SessionAttachments
  /** Who drives the agent. */
  setControl(by: 'terminal' | 'phone'): void
  /** `change` must be pure; it is applied again to what others wrote meanwhile. */
  changeState(change: (state: AgentState) => AgentState): void
  changeMetadata(change: (metadata: SessionMetadata) => SessionMetadata): void
  /** Delivers the queue, marks the session as ended, and closes. False if something is left for another process. */
  end(within: { ms: number; signal?: AbortSignal | undefined }): Promise<boolean>
  /** Closes immediately; the queue stays on disk. */
  close(): Promise<void>
}

export async function openUplink(options: UplinkOptions): Promise<Uplink> {
  const uplink = new SessionUplink(options)
  await uplink.open()
  return uplink
}

const archiveWithinMs = 3000

class SessionUplink implements Uplink {
  readonly #options: UplinkOptions
  readonly #key: SealingKey
  readonly #token: string | TokenSource
  readonly #rest: Rest
  readonly #cells: UplinkCells
  readonly #numbers: OwnNumbers
  readonly #opening: Opening
  readonly #unknown: ReturnType<typeof createUnknownSession>
  readonly #refused: RefusedMessages
  readonly #end = new AbortController()
  readonly #link = createLink(() => this.#options.onChange?.())
  readonly #retrier = createRetrier({
    signal: this.#end.signal,
    onWait: error => this.#link.enter({ type: 'away', reason: error.message })
  })
  #outbox: Outbox | undefined
  /** Messages that the agent sent in this process: `#sealedHere` until the server has them, then `#own`, as stored. */
  readonly #sealedHere = new Set<string>()
  readonly #own = new WeakSet<MessageRecord>()
  #line: Live | undefined
  #alive: { thinking: boolean; mode: 'local' | 'remote' } = { thinking: false, mode: 'remote' }
  #hadLine = false
  /** Messages that the server does not have stay in the journal, and this process does not send them. */
  #isLeft = false
  readonly #stall = createStallCheck()

  constructor(options: UplinkOptions) {
    const { credentials, folder } = options
    this.#options = options
    this.#key = openSessionKey(credentials, folder.notes.key)
    this.#numbers = folder.openNumbers()
    this.#cells = createUplinkCells({
      cipher: this.#key.cipher,
      metadata: folder.notes.metadata,
      onChange: metadata => folder.note({ metadata }),
      onStored: metadata => options.onMetadata?.(metadata),
      onRefused: why => options.onRefused?.(why)
    })
    this.#token = deviceToken(options)
    this.#rest = createRest({
      server: credentials.server,
      token: this.#token,
      fetch: options.fetch,
      connectionId: () => this.#line?.connectionId
    })
    this.#opening = createOpening({
      ...options,
      rest: this.#rest,
      key: this.#key,
      cells: this.#cells,
      signal: this.#end.signal,
      onOpened: record => this.#openLine(record),
      onDeleted: () => this.#link.enter({ type: 'gone' }),
      onOtherKey: () => this.#link.enter({ type: 'other-key' })
    })
    this.#unknown = createUnknownSession({
      rest: this.#rest,
      link: this.#link,
      signal: this.#end.signal,
      current: () => this.#opening.id ?? folder.notes.id,
      openAgain: () => this.#openAgain()
    })
    this.#refused = createRefusedMessages(folder, (body, localId) => this.put(body, localId))
  }

  async open(): Promise<void> {
    this.#end.signal.addEventListener(
      'abort',
      watchNetwork(() => this.#hurry()),
      { once: true }
    )
    this.#outbox = await openUplinkOutbox({
      rest: this.#rest,
      folder: this.#options.folder,
      numbers: this.#numbers,
      session: () => this.#opening.open(),
      isOpenedAgain: async session => this.link.type !== 'gone' && this.#unknown.isOpenedAgain(session),
      onStored: messages => {
        this.#refused.stored(messages)
        for (const message of messages) if (this.#sealedHere.delete(message.content.c)) this.#own.add(message)
        this.#line?.take(messages)
      },
      onSetAside: async (draft, refusal) => {
        // For a deleted session, dropping them is fine; for any other missing session they stay in the journal.
        const isLeft = refusal.status === 404 && this.link.type !== 'gone'
        this.#isLeft ||= isLeft
        if (!isLeft) giveUpDraft(this.#speaking, draft)
        this.#sealedHere.delete(draft.content)
        if (refusal.status !== 404) await this.#refused.take(draft, refusal)
        this.#options.onChange?.()
        if (isLeft) throw refusal
      },
      onDropped: drafts => {
        for (const draft of drafts) {
          giveUpDraft(this.#speaking, draft)
          this.#sealedHere.delete(draft.content)
        }
        this.#options.onDropped?.(drafts.length)
      },
      limitBytes: this.#options.limitBytes,
      onState: state => {
        if (state.type === 'refused') this.#link.enter({ type: 'unlinked' })
        this.#options.onChange?.()
      }
    })
    const { folder } = this.#options
    this.#openThere().catch(error => this.#giveUp(error, folder.notes.id))
  }

  #openThere(): Promise<string> {
    return this.#retrier.attempt(() => this.#opening.open())
  }

  #giveUp(error: unknown, session: string | undefined): void {
    if (this.link.type === 'gone') return
    const isUnknown = error instanceof Refused && error.status === 404 && session !== undefined
    if (isUnknown) this.#unknown.isOpenedAgain(session).catch(error => this.#link.giveUp(error))
    else this.#link.giveUp(error)
  }

  #openAgain(): Promise<string> {
    this.#line?.close()
    this.#line = undefined
    this.#opening.forget()
    return this.#openThere()
  }

  /** Seals what the session has to say. */
  get #speaking(): SpeakingCipher {
    return { ...this.#key.cipher, numbers: this.#numbers }
  }

  get session(): string | undefined {
    return this.#opening.id
  }

  get trouble(): string | undefined {
    return this.#refused.trouble
  }

  get link(): LinkState {
    return this.#link.state
  }

  get waiting(): number {
    return this.#outbox?.pending.length ?? 0
  }

  async put(body: MessageBody, localId?: string, how?: { beyondLimit?: boolean }): Promise<void> {
    if (!this.#outbox) throw new Error('the uplink is not open')
    const { tag } = this.#options.folder.notes
    await putBody({ outbox: this.#outbox, cipher: this.#speaking, tag, sealedHere: this.#sealedHere }, body, localId, how)
    this.#options.onChange?.()
  }

  showPartial(frame: PartialFrame): boolean {
    return this.#line?.showPartial(frame) ?? false
  }

  async caughtUp(): Promise<void> {
    await this.#line?.caughtUp()
  }

  setThinking(thinking: boolean): void {
    if (this.#alive.thinking === thinking) return
    this.#alive = { ...this.#alive, thinking }
    this.#line?.tellAlive()
  }

  setControl(by: 'terminal' | 'phone'): void {
    this.#alive = { ...this.#alive, mode: by === 'terminal' ? 'local' : 'remote' }
    this.changeState(state => ({ ...state, controlledByUser: by === 'terminal' }))
    this.#line?.tellAlive()
  }

  tellRead(seq: number): void {
    this.#line?.tellRead(seq)
  }

  get attachments(): SessionAttachments {
    return attachmentsOf({ rest: this.#rest, token: this.#token, session: this.session, key: this.#key })
  }

  async notify(notice: Notice, preview?: Preview): Promise<void> {
    const { session } = this
    if (session === undefined) throw new Error('The session is not on the server yet.')
    const { noticeId } = notice
    const sealed = preview && noticeId !== undefined ? sealPreview(this.#key, { session, notice: noticeId }, preview) : undefined
    await this.#rest.call('notify', { params: { id: session }, body: { ...notice, ...(sealed !== undefined && { preview: sealed }) } })
  }

  changeState(change: (state: AgentState) => AgentState): void {
    this.#cells.changeState(change)
  }

  changeMetadata(change: (metadata: SessionMetadata) => SessionMetadata): void {
    this.#cells.changeMetadata(change)
  }

  /** Retries now instead of waiting. */
  #hurry(): void {
    this.#retrier.hurry()
    this.#line?.reconnect()
    this.#outbox?.wake()
  }

  async end({ ms, signal }: { ms: number; signal?: AbortSignal | undefined }): Promise<boolean> {
    const isTold = await withDeadline(ms, () => Promise.race([this.#sayGoodbye(), this.#link.cut]), { signal }).then(
      () => true,
      () => false
    )
    await this.close()
    // Messages queued during the shutdown are left to the next process.
    const isOver = isTold || (this.link.type === 'unknown' && !this.#isLeft)
    return this.link.type === 'gone' || (isOver && this.waiting === 0)
  }

  async close(): Promise<void> {
    this.#link.close()
    this.#end.abort(new Error('the uplink was closed'))
    this.#line?.close()
    await this.#outbox?.close()
    this.#numbers.close()
  }

  async #sayGoodbye(): Promise<void> {
    this.#hurry()
    await this.#outbox?.idle()
    const id = await this.#openThere()
    await this.#cells.archive()
    await this.#outbox?.idle()
    this.#line?.tellEnd()
    await this.#rest.call('archiveSession', { params: { id } }, { timeoutMs: archiveWithinMs })
  }

  #openLine(record: SessionRecord): void {
    const { credentials } = this.#options
    this.#line = openLive(record, {
      ...this.#options,
      server: credentials.server,
      token: this.#token,
      rest: this.#rest,
      cipher: this.#key.cipher,
      cells: this.#cells,
      numbers: this.#numbers,
      isOwn: message => this.#own.has(message),
      onState: state => this.#followSocket(state),
      onGone: () => this.#link.enter({ type: 'gone' }),
      onRefused: refusal => this.#giveUp(refusal, record.id),
      alive: () => this.#alive,
      onBeat: () => this.#doubtLink()
    })
    this.#options.onChange?.()
  }

  /** A dead connection is noticed by undelivered messages; its own heartbeat takes a minute. */
  #doubtLink(): void {
    const [oldest] = this.#outbox?.pending ?? []
    if (this.link.type === 'live' && this.#stall.isStalled(oldest?.localId, performance.now())) this.#line?.reconnect()
  }

  #followSocket(state: LiveSocket['state']): void {
    switch (state.type) {
      case 'live':
        this.#link.enter({ type: 'live' })
        if (this.#hadLine) this.#outbox?.restart()
        else this.#outbox?.wake()
        this.#hadLine = true
        return
      case 'down':
        this.#hadLine = true
        this.#link.enter({ type: 'away', reason: state.reason })
        return
      case 'refused':
        this.#link.enter({ type: 'unlinked' })
        return
      case 'connecting':
      case 'closed':
        return
    }
  }
}
