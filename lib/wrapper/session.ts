import { withDeadline } from '../async/deadline.ts'
import { pause } from '../async/pause.ts'
import { BoundedQueue } from '../async/queue.ts'
import type { SessionHandlers } from '../client/calls.ts'
import { newId, type OpenedMessage, userText } from '../client/messages.ts'
import { OutboxFull } from '../client/outbox.ts'
import type { Fetch } from '../client/rest.ts'
import type { MessageBody, MessageMeta } from '../protocol/sealed/messages.ts'
import type { SessionMetadata } from '../protocol/sealed/session.ts'
import { type Agent, AgentDied, type AgentEvent, type Handover } from './agents/agent.ts'
import type { Credentials, Home } from './credentials.ts'
import { createDecisions, type Decisions } from './decisions.ts'
import { confine } from './methods/confine.ts'
import { fileMethods } from './methods/files.ts'
import { readPolicy } from './methods/policy.ts'
import { shellMethods } from './methods/shell.ts'
import { createNarrator, idOfRow, type Narrator } from './narrator.ts'
import { createNotices, type Notices } from './notices.ts'
import { recount, type Untold } from './recount.ts'
import type { SessionFolder, SessionNotes } from './session-folder.ts'
import { type LinkState, openUplink, type Uplink } from './uplink.ts'

/** What the terminal shows of a session. */
export interface SessionStatus {
  /** The server's id; undefined until the session was opened there. */
  session: string | undefined
  link: LinkState
  waiting: number
  /** Whether a turn runs, and the step it is at. */
  isWorking: boolean
  step: string | undefined
  /** The titles of the questions that wait for a person. */
  questions: readonly string[]
  /** Prompts that wait for the turn of now to end. */
  queued: number
  /** Why something the agent said could not be kept, while that is so. */
  trouble: string | undefined
}

/** How a session came to its end: asked for at the terminal, from another device, or because the agent ended. */
export type SessionEnd = { type: 'asked' } | { type: 'elsewhere'; sentence: string } | { type: 'agent-died'; died: AgentDied }

export interface Session {
  readonly status: SessionStatus
  /** As if it had come from the phone, which shows it too. */
  prompt(text: string): Promise<void>
  /** Ends the turn that runs; false when there is none. */
  stopTurn(): boolean
  /** Ends the session; safe to call again. */
  end(): void
  /** Tries to reach the server now. */
  hurry(): void
  /** For an agent that has a terminal of its own here. */
  readonly handover: Handover | undefined
  /** Resolves when everything is closed; `delivered` is false when messages stay on disk for the next run. */
  readonly ended: Promise<{ how: SessionEnd; delivered: boolean }>
}

export interface SessionOptions {
  agent: Agent
  home: Home
  credentials: Credentials
  folder: SessionFolder
  /** What an earlier process of this session did not come to tell. */
  untold?: Untold | undefined
  /** What is true of this run; told over what an earlier run of the session said. */
  metadata: SessionMetadata
  env: Readonly<Record<string, string | undefined>>
  fetch: Fetch
  onChange(): void
}

interface Prompt {
  text: string
  meta: MessageMeta | undefined
  /** Undefined for one from this terminal. */
  seq: number | undefined
}

/** Brings an agent and the devices of its owner together until one of them ends it. */
export async function startSession(options: SessionOptions): Promise<Session> {
  const session = new WrappedSession(options)
  await session.open()
  return session
}

const flushWithinMs = 10_000
const retryDiskMs = 1000
const mostHanded = 200

class WrappedSession implements Session {
  readonly ended: Promise<{ how: SessionEnd; delivered: boolean }>
  readonly #options: SessionOptions
  readonly #agent: Agent
  readonly #decisions: Decisions
  readonly #narrator: Narrator
  readonly #prompts = new BoundedQueue<Prompt>(Number.POSITIVE_INFINITY)
  readonly #ownMessages = new Set<string>()
  readonly #over = Promise.withResolvers<SessionEnd>()
  readonly #abandon = new AbortController()
  #uplink: Uplink | undefined
  #turn: PromiseWithResolvers<void> | undefined
  readonly #notices: Notices = createNotices(notice => this.#uplink?.notify(notice))
  #step: string | undefined
  #trouble: string | undefined
  #isEnding = false
  #hasSkipped = false

  constructor(options: SessionOptions) {
    this.#options = options
    this.#agent = options.agent
    this.#decisions = createDecisions(change => this.#uplink?.changeState(change))
    this.#narrator = createNarrator({
      put: (body, localId) => this.#keep(body, localId),
      showPartial: partial => this.#uplink?.showPartial(partial)
    })
    this.ended = this.#over.promise.then(how => this.#close(how))
  }

  get status(): SessionStatus {
    return {
      session: this.#uplink?.session,
      link: this.#uplink?.link ?? { type: 'connecting' },
      waiting: this.#uplink?.waiting ?? 0,
      isWorking: this.#turn !== undefined,
      step: this.#step,
      questions: this.#decisions.open.map(({ title }) => title),
      queued: this.#prompts.length,
      trouble: this.#trouble
    }
  }

  async open(): Promise<void> {
    const { home, credentials, folder, untold, metadata: ownMetadata, fetch } = this.#options
    this.#uplink = await openUplink({
      home,
      credentials,
      folder,
      fetch,
      handlers: this.#handlers(),
      onMessage: (message, about) => this.#hear(message, about),
      onMetadata: metadata => this.#followMetadata(metadata),
      onSetAside: refusal =>
        void this.#narrator.say(`The server did not take a message, which is kept on this computer: ${refusal.message}`),
      onDropped: () => this.#tellTrouble('Too much waits for the server: the oldest thoughts and plans are left out.'),
      onChange: () => this.#followLink()
    })
    this.#uplink.setControl(this.#agent.handover?.by ?? 'phone')
    if (untold) await recount(untold, folder, (body, localId) => this.#keep(body, localId))
    if (folder.notes.id !== undefined) this.#uplink.changeMetadata(metadata => ({ ...metadata, ...ownMetadata }))
    void this.#listen()
    void this.#serve()
  }

  async prompt(text: string): Promise<void> {
    const localId = newId()
    this.#ownMessages.add(localId)
    await this.#keep(userText(text, { sentFrom: 'cli' }), localId)
    this.#prompts.offer({ text, meta: undefined, seq: undefined })
    this.#options.onChange()
  }

  get handover(): Handover | undefined {
    return this.#agent.handover
  }

  stopTurn(): boolean {
    if (!this.#turn) return false
    void this.#agent.cancel()
    return true
  }

  end(): void {
    this.#over.resolve({ type: 'asked' })
  }

  hurry(): void {
    this.#uplink?.hurry()
  }

  #handlers(): SessionHandlers {
    return {
      permission: async answer => {
        const decision = this.#decisions.answer(answer)
        if (!decision) return undefined
        this.#agent.answer(answer.id, decision.choice)
        this.#options.onChange()
        if (decision.stops) await this.#agent.cancel()
        if (answer.mode) await this.#agent.setMode(answer.mode)
        return undefined
      },
      abort: async () => {
        await this.#agent.cancel()
        return undefined
      },
      switch: async ({ to }) => {
        const { handover } = this.#agent
        if (!handover) throw new Error('This agent has no terminal of its own here.')
        const isToPhone = to === undefined ? handover.by === 'terminal' : to === 'remote'
        await (isToPhone ? handover.toPhone() : handover.toTerminal())
        return true
      },
      killSession: () => {
        // The answer has to leave before the line is closed.
        setTimeout(() => this.#over.resolve({ type: 'elsewhere', sentence: 'The session was ended from another device.' }), 50)
        return { success: true, message: 'The session ends.' }
      },
      setMode: async ({ mode }) => {
        if (!(await this.#agent.setMode(mode))) throw new Error('The agent has no such mode.')
        return { mode }
      },
      ...this.#methods()
    }
  }

  /** Files and commands, in the session's own folder. */
  #methods(): SessionHandlers {
    const { home, folder, env } = this.#options
    const confinement = () => confine([folder.notes.metadata.path], home.path)
    const mayUseShell = () => readPolicy(home.path).hasShell
    return { ...fileMethods(confinement), ...shellMethods({ confinement, mayUseShell, env }) }
  }

  #hear(message: OpenedMessage, { seq, localId }: { seq: number; localId: string | null }): void {
    if (!message.ok) this.#skip(message.reason, seq)
    if (!message.ok || message.body.role !== 'user') return
    if (localId !== null && this.#ownMessages.delete(localId)) return
    // An earlier process of this session told what was written at its terminal; the agent has it.
    if (message.body.meta?.sentFrom === 'cli') return
    this.#prompts.offer({ text: message.body.content.text, meta: message.body.meta, seq })
    this.#options.onChange()
  }

  /** Told once: whoever can write to the session could have it tell this for ever. */
  #skip(reason: 'unreadable' | 'unknown-shape', seq: number): void {
    if (reason !== 'unreadable' || this.#hasSkipped) return
    this.#hasSkipped = true
    void this.#narrator.say(`Message ${seq} was left out: it is damaged, or was sealed with another key.`)
  }

  /** Hands over one prompt after the other, each in a turn of its own. */
  async #serve(): Promise<void> {
    for await (const { text, meta, seq } of this.#prompts) {
      // A turn that began at the terminal comes to its end first.
      while (this.#turn) await this.#turn.promise
      if (this.#isEnding) return
      const ended = this.#beginTurn(seq === undefined ? 'terminal' : 'phone')
      if (meta?.permissionMode) await this.#agent.setMode(meta.permissionMode)
      const turn = await this.#narrator.beginTurn()
      // At its own terminal it may keep the prompt before it says so.
      if (this.#agent.handover) this.#options.folder.note({ turn, handing: { seq: seq ?? null, text: text.slice(0, mostHanded) } })
      await this.#agent.prompt(text)
      // Only now: a prompt that the agent does not have yet must come again after a crash, and one it has must not. At its
      // own terminal it has it when it has written it down.
      const isKept = this.#agent.handover?.by !== 'terminal'
      this.#options.folder.note({ turn, ...(isKept && seq !== undefined && { cursor: seq }) })
      if (isKept && seq !== undefined) this.#uplink?.tellRead(seq)
      this.#options.onChange()
      await ended
    }
  }

  #beginTurn(from: 'phone' | 'terminal'): Promise<void> {
    this.#notices.turnBegan(from)
    this.#turn = Promise.withResolvers()
    this.#uplink?.setThinking(true)
    return this.#turn.promise
  }

  /** What a person wrote at the terminal is shown everywhere, and not handed to the agent again. */
  async #hearTerminal({ text, isOurs, row }: Extract<AgentEvent, { type: 'prompted' }>): Promise<void> {
    if (isOurs) return this.#noteHanded()
    const localId = row === undefined ? newId() : idOfRow(row)
    this.#ownMessages.add(localId)
    await this.#keep(userText(text, { sentFrom: 'cli' }), localId)
    if (this.#turn) return
    void this.#beginTurn('terminal')
    this.#options.folder.note({ turn: await this.#narrator.beginTurn(row) })
  }

  /** The agent has the prompt that was being handed to it. */
  #noteHanded(changes: Partial<SessionNotes> = {}): void {
    const { folder } = this.#options
    const seq = folder.notes.handing?.seq
    folder.note({ ...changes, handing: null, ...(typeof seq === 'number' && { cursor: seq }) })
    if (typeof seq === 'number') this.#uplink?.tellRead(seq)
  }

  async #listen(): Promise<void> {
    try {
      for await (const event of this.#agent.events) {
        await this.#take(event)
        this.#options.onChange()
      }
      // Its person left it at the terminal.
      this.#over.resolve({ type: 'asked' })
    } catch (error) {
      if (!(error instanceof AgentDied)) throw error
      this.#over.resolve({ type: 'agent-died', died: error })
    }
  }

  async #take(event: AgentEvent): Promise<void> {
    switch (event.type) {
      case 'permission-asked':
        await this.#narrator.showStep(event.asked.step)
        // Who is at the terminal sees the question there.
        if (this.#agent.handover?.by !== 'terminal') this.#notices.asked()
        return this.#decisions.ask(event.asked)
      case 'permission-closed':
        return this.#decisions.close(event.ask, event.approved)
      case 'prompted':
        return this.#hearTerminal(event)
      case 'told':
        await this.#narrator.settle()
        return this.#options.folder.note({ toldUpTo: event.upTo })
      case 'controlled':
        // With the phone it is told as it comes, and not from what it writes down.
        if (event.by === 'phone') this.#options.folder.note({ toldUpTo: null })
        return this.#uplink?.setControl(event.by)
      case 'conversation': {
        const { id } = event
        return this.#uplink?.changeMetadata(metadata => ({
          ...metadata,
          agentSessionId: id,
          ...(metadata.flavor === 'claude' && { claudeSessionId: id })
        }))
      }
      case 'modes': {
        const { current, available } = event.modes
        const operatingModes = available.map(({ id, name, description }) => ({ code: id, value: name, description: description ?? null }))
        return this.#uplink?.changeMetadata(metadata => ({ ...metadata, operatingModes, currentOperatingModeCode: current }))
      }
      case 'commands':
        return this.#uplink?.changeMetadata(metadata => ({ ...metadata, slashCommands: event.names }))
      case 'title': {
        const summary = { text: event.title, updatedAt: Date.now() }
        return this.#uplink?.changeMetadata(metadata => ({ ...metadata, summary }))
      }
      case 'turn-ended':
        await this.#narrator.tell(event)
        this.#noteHanded({ turn: null })
        this.#step = undefined
        this.#uplink?.setThinking(false)
        this.#notices.turnEnded(event.reason, this.#prompts.length === 0)
        this.#turn?.resolve()
        this.#turn = undefined
        return
      default:
        if (event.type === 'step-updated') this.#decisions.update(event.step)
        if (event.type === 'step-started' || event.type === 'step-updated') this.#step = event.step.title
        if (event.type === 'text-grew' || event.type === 'step-ended') this.#step = undefined
        return this.#narrator.tell(event)
    }
  }

  /**
   * On disk when it resolves. A full disk makes the agent's events wait in memory, so that nothing it said is lost; when
   * more waits for the server than is allowed, the agent works on and what it says is not kept.
   */
  async #keep(body: MessageBody, localId?: string): Promise<void> {
    for (;;) {
      try {
        await this.#uplink?.put(body, localId)
        if (this.#trouble !== undefined) this.#tellTrouble(undefined)
        return
      } catch (error) {
        if (this.#abandon.signal.aborted) return
        if (error instanceof OutboxFull) return this.#tellTrouble('Too much waits for the server: what the agent says now is not kept.')
        this.#tellTrouble(`Nothing can be kept on disk: ${error instanceof Error ? error.message : String(error)}`)
        await pause(retryDiskMs, { signal: this.#abandon.signal }).catch(() => {})
      }
    }
  }

  #tellTrouble(trouble: string | undefined): void {
    this.#trouble = trouble
    this.#options.onChange()
  }

  #followLink(): void {
    if (this.#uplink?.link.type === 'gone') {
      this.#over.resolve({ type: 'elsewhere', sentence: 'The session was deleted on another device.' })
    }
    this.#options.onChange()
  }

  #followMetadata({ lifecycleState }: SessionMetadata): void {
    if (lifecycleState !== 'archived' && lifecycleState !== 'archiveRequested') return
    this.#over.resolve({ type: 'elsewhere', sentence: 'The session was archived on another device.' })
  }

  async #close(how: SessionEnd): Promise<{ how: SessionEnd; delivered: boolean }> {
    this.#isEnding = true
    this.#options.folder.note({ isEnding: true })
    this.#prompts.close()
    await this.#agent.stop()
    // What it said last is kept before the line is closed; a disk that takes nothing does not keep this process.
    await withDeadline(flushWithinMs, async () => this.#turn?.promise).catch(() => {})
    this.#turn = undefined
    for (const { ask } of this.#decisions.open) this.#decisions.close(ask)
    this.#uplink?.setThinking(false)
    const delivered = (await this.#uplink?.end({ ms: flushWithinMs })) ?? true
    this.#abandon.abort()
    if (this.#uplink?.link.type === 'gone') this.#options.folder.remove()
    else if (delivered) this.#options.folder.retire()
    return { how, delivered }
  }
}
