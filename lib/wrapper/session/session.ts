import { systemClock } from '../../async/clock.ts'
import { withDeadline } from '../../async/deadline.ts'
import type { Fetch } from '../../client/link/rest.ts'
import type { OpenedMessage } from '../../client/sealed/messages.ts'
import { type ModelWait, nobody, type SessionMetadata } from '../../protocol/sealed/session.ts'
import { type Agent, AgentDied, type AgentEvent, type Handover, type OwnScreen, type UnsentHistory } from '../agents/agent.ts'
import type { Credentials, Home } from '../home/credentials.ts'
import type { SessionFolder } from '../home/session-folder.ts'
import type { LinkState } from '../uplink/link.ts'
import { openUplink, type Uplink } from '../uplink/uplink.ts'
import { agentEndOf } from './agent-end.ts'
import { sendUnsent } from './cursor.ts'
import { followAgent } from './events.ts'
import { sessionMethods } from './methods/session-methods.ts'
import { createParts, type SessionParts } from './parts.ts'
import { cancelAll, type OpenRequest } from './requests/requests.ts'
import { cutText } from './requests/shorten.ts'
import { createSkippedMessages, type SkippedMessages } from './skipped-messages.ts'
import { createTurns, type Turns } from './turns.ts'

/** What the terminal shows of a session. */
export interface SessionStatus {
  /** The server's id; undefined until the session was opened there. */
  session: string | undefined
  link: LinkState
  waiting: number
  /** Whether a turn runs, and its current step. */
  isWorking: boolean
  step: string | undefined
  /** Set while the model is silent. */
  modelWait: ModelWait | undefined
  /** The open requests. */
  questions: readonly Pick<OpenRequest, 'title' | 'risk'>[]
  /** The last choice that allows more than one use, in words. */
  lastingYes: string | undefined
  /** Prompts that wait for the current turn to end. */
  queued: number
  /** Devices that show the session now. */
  watching: number
  /** While output cannot be stored: why; otherwise the last fault in its input. */
  trouble: string | undefined
  /** Remarks of the agent between turns, for example that it has no such mode. */
  note: string | undefined
}

/** How a session ended: from the terminal, from another device, or because the agent ended. */
export type SessionEnd =
  | { type: 'asked'; by: 'person' | 'system' }
  | { type: 'elsewhere'; sentence: string }
  | { type: 'agent-died'; died: AgentDied }

export interface Session {
  readonly status: SessionStatus
  /** As if sent from the phone, which shows it too. */
  prompt(text: string): Promise<void>
  /** Stops the running turn; false if there is none. */
  stopTurn(): boolean
  /** Ends the session; may be called again. A session ended by a person is not resumed until someone writes to it. */
  end(by: 'person' | 'system'): void
  /** For an agent that has a terminal of its own here. */
  readonly handover: Handover | undefined
  /** For an agent with a screen of its own beside the phone. */
  readonly ownScreen: OwnScreen | undefined
  /** Resolves when everything is closed; `delivered` is false if messages stay on disk for the next run. */
  readonly ended: Promise<{ how: SessionEnd; delivered: boolean }>
}

export interface SessionOptions {
  agent: Agent
  home: Home
  credentials: Credentials
  folder: SessionFolder
  /** Output that an earlier process of this session did not send. */
  unsent?: UnsentHistory | undefined
  /** Metadata of this run, which overrides that of an earlier run. */
  metadata: SessionMetadata
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  onChange(): void
  /** How it reaches the server. */
  connect?: typeof openUplink
}

/** Connects an agent with its owner's devices until one of them ends the session. */
export async function startSession(options: SessionOptions): Promise<Session> {
  const session = new WrappedSession(options)
  await session.open()
  return session
}

/** The limit for each step of closing that waits for the disk or the server; there are six. */
const closingStepWithinMs = 10_000
const longestNamed = 100

class WrappedSession implements Session {
  readonly ended: Promise<{ how: SessionEnd; delivered: boolean }>
  readonly #options: SessionOptions
  readonly #agent: Agent
  readonly #parts: SessionParts
  readonly #turns: Turns
  readonly #take: (event: AgentEvent) => Promise<void>
  readonly #over = Promise.withResolvers<SessionEnd>()
  #uplink: Uplink | undefined
  #heardUpTo = 0
  #sendingUnsent = Promise.resolve()
  /** Whether this process has told the server that the session runs. */
  #isKnownToRun = false
  readonly #skipped: SkippedMessages
  /** Why open requests may be missing on devices. */
  #unseen: string | undefined
  #note: string | undefined

  constructor(options: SessionOptions) {
    this.#options = options
    this.#agent = options.agent
    this.#parts = createParts(options, () => this.#uplink)
    this.#skipped = createSkippedMessages({ say: text => void this.#parts.narrator.say(text), clock: systemClock })
    this.#turns = createTurns(this.#parts)
    this.#take = followAgent(this.#parts, this.#turns)
    this.ended = this.#over.promise.then(how => this.#close(how))
  }

  get status(): SessionStatus {
    const { writer, queue, viewers, sealFaults } = this.#parts
    return {
      session: this.#uplink?.session,
      link: this.#uplink?.link ?? { type: 'connecting' },
      waiting: this.#uplink?.waiting ?? 0,
      isWorking: this.#turns.isRunning,
      step: this.#turns.step,
      modelWait: this.#parts.modelWaits.current,
      questions: this.#parts.requests.open,
      lastingYes: this.#parts.requests.lastingYes,
      queued: queue.length,
      watching: viewers.count,
      trouble: writer.trouble ?? this.#uplink?.trouble ?? this.#unseen ?? sealFaults.last,
      note: this.#note
    }
  }

  async open(): Promise<void> {
    const { home, credentials, folder, unsent, metadata: ownMetadata, env, fetch, connect = openUplink } = this.#options
    const { writer } = this.#parts
    const handlers = sessionMethods(this.#parts, {
      turns: this.#turns,
      home,
      env,
      onKill: () => this.#endedElsewhere('The session was ended from another device.')
    })
    this.#uplink = await connect({
      home,
      credentials,
      folder,
      fetch,
      handlers,
      onMessage: (message, about) => this.#hear(message, about),
      onOwn: about => this.#noteHeard(about),
      onFault: (type, count) => this.#parts.sealFaults.tell(type, count),
      onForgedMessage: about => this.#skipForged(about),
      onForged: ({ why }) => this.#parts.sealFaults.tell(`call-${why}`),
      onMetadata: metadata => this.#followMetadata(metadata),
      onRefused: why => this.#reportUnseen(why),
      onNumberedAnew: () => {
        this.#heardUpTo = 0
        this.#turns.forgetNumbers()
      },
      onDropped: count => writer.dropped(count),
      onChange: () => this.#followLink()
    })
    // Requests of a killed process: no one waits for an answer any more.
    const now = Date.now()
    this.#uplink.changeState(state => ({
      ...cancelAll(state, now),
      modelWait: undefined,
      diskTrouble: writer.diskTrouble
    }))
    this.#parts.notices.review()
    this.#parts.autoDeny.begin(async (id, reason) => handlers.permission?.({ id, approved: false, reason, answeredBy: nobody }))
    this.#uplink.setControl(this.#agent.handover?.by ?? 'phone')
    const abilities = { methods: Object.keys(handlers), editsQueue: true }
    this.#uplink.changeMetadata(metadata => ({ ...metadata, ...ownMetadata, agentEnd: undefined, progress: undefined, ...abilities }))
    if (unsent) this.#sendingUnsent = sendUnsent(unsent, folder, (body, localId) => writer.write(body, localId))
    await this.#sendingUnsent
    void this.#listen()
    void this.#turns.serve(folder.notes.cursor)
  }

  prompt(text: string): Promise<void> {
    return this.#parts.queue.say(text)
  }

  get handover(): Handover | undefined {
    return this.#agent.handover
  }

  get ownScreen(): OwnScreen | undefined {
    return this.#agent.ownScreen
  }

  stopTurn(): boolean {
    if (!this.#turns.isRunning) return false
    void this.#turns.stop()
    return true
  }

  end(by: 'person' | 'system'): void {
    this.#over.resolve({ type: 'asked', by })
  }

  #endedElsewhere(sentence: string): void {
    this.#over.resolve({ type: 'elsewhere', sentence })
  }

  #noteHeard({ seq }: { seq: number }): void {
    this.#heardUpTo = Math.max(this.#heardUpTo, seq)
  }

  #hear(message: OpenedMessage, about: { seq: number; localId: string | null }): void {
    this.#noteHeard(about)
    if (message.ok) this.#parts.queue.hear(message.body, about)
    else this.#skipped.add(message.reason, about.seq)
  }

  /** Injected by someone in between. It must not resume the session either after that has ended. */
  #skipForged(about: { seq: number; localId: string | null }): void {
    this.#noteHeard(about)
    this.#parts.queue.drop(about)
  }

  #reportUnseen(why: string): void {
    const asked = this.#parts.requests.open.map(({ title }) => `“${cutText(title, longestNamed)}”`)
    const sentence =
      asked.length === 0
        ? `Your devices may show an outdated state of this session: the server rejected the update (${why}).`
        : `Your devices may not show a pending decision, ${asked.join(', ')}: the server rejected the update (${why}). Stop the turn to continue.`
    if (asked.length > 0) this.#unseen = sentence
    void this.#parts.narrator.say(sentence)
    this.#options.onChange()
  }

  async #listen(): Promise<void> {
    try {
      for await (const event of this.#agent.events) {
        await this.#take(event)
        if (this.#turns.isRunning) this.#note = undefined
        else if (event.type === 'notice') this.#note = event.text
        if (this.#parts.requests.open.length === 0) this.#unseen = undefined
        this.#options.onChange()
      }
      // Its person left it at the terminal.
      this.#over.resolve({ type: 'asked', by: 'person' })
    } catch (error) {
      if (!(error instanceof AgentDied)) throw error
      this.#over.resolve({ type: 'agent-died', died: error })
    }
  }

  #followLink(): void {
    if (this.#uplink?.link.type === 'gone') this.#endedElsewhere('The session was deleted on another device.')
    if (this.#uplink?.link.type === 'unknown') this.#endedElsewhere('The server no longer has this session.')
    if (this.#uplink?.waiting === 0) this.#parts.writer.drained()
    if (this.#uplink?.link.type === 'live') this.#parts.notices.connected()
    this.#options.onChange()
  }

  /** Until the agent is known to run, the state read is that of an earlier process. */
  #followMetadata({ lifecycleState }: SessionMetadata): void {
    if (lifecycleState === 'running') this.#isKnownToRun = true
    const isArchived = lifecycleState === 'archived' || lifecycleState === 'archiveRequested'
    if (isArchived && this.#isKnownToRun) this.#endedElsewhere('The session was archived on another device.')
  }

  async #close(how: SessionEnd): Promise<{ how: SessionEnd; delivered: boolean }> {
    const { folder } = this.#options
    // Before everything else, so that no later process resumes a session that is ending.
    folder.note({ isEnding: true, endedBy: enderOf(how), heardUpTo: this.#heardUpTo })
    this.#turns.close()
    this.#skipped.finish()
    // The agent is stopped before the parts it uses. If it cannot be stopped, its output must still be delivered.
    const [stopping] = await Promise.allSettled([this.#stopAgent()])
    this.#closeParts()
    this.#showEnd(how)
    // The connection closes last, since everything above is sent over it.
    const delivered = await this.#deliver()
    if (this.#uplink?.link.type === 'gone') folder.remove()
    else if (delivered) folder.retire()
    if (stopping.status === 'rejected') throw stopping.reason
    return { how, delivered }
  }

  async #stopAgent(): Promise<void> {
    try {
      await this.#agent.stop()
    } finally {
      // The last output is still written; a disk that accepts nothing must not block the end of this process.
      await this.#turns.settle(closingStepWithinMs)
    }
  }

  /** No more requests or answers. */
  #closeParts(): void {
    const { autoDeny, requests, attachments, approvals, viewers } = this.#parts
    autoDeny.close()
    for (const { ask } of requests.open) requests.close(ask)
    attachments.close()
    approvals.end()
    viewers.close()
  }

  #showEnd(how: SessionEnd): void {
    const { notices } = this.#parts
    this.#uplink?.setThinking(false)
    const agentEnd = how.type === 'agent-died' ? agentEndOf(how.died.how) : undefined
    if (how.type === 'agent-died') notices.failed()
    notices.close()
    if (agentEnd) this.#uplink?.changeMetadata(metadata => ({ ...metadata, agentEnd }))
  }

  /** Flushes the session's output to disk, then to the server. False if some of it stays on disk for the next run. */
  async #deliver(): Promise<boolean> {
    const { writer, notices, pictures } = this.#parts
    await withDeadline(closingStepWithinMs, () => this.#sendingUnsent).catch(() => {})
    await pictures.finish(closingStepWithinMs)
    await writer.finish()
    await withDeadline(closingStepWithinMs, () => notices.settled()).catch(() => {})
    const delivered = (await this.#uplink?.end({ ms: closingStepWithinMs })) ?? true
    await withDeadline(closingStepWithinMs, () => this.#options.folder.noted()).catch(() => {})
    writer.abandon()
    return delivered
  }
}

function enderOf(how: SessionEnd): 'itself' | 'person' {
  return how.type === 'elsewhere' || (how.type === 'asked' && how.by === 'person') ? 'person' : 'itself'
}
