import { randomUUID } from 'node:crypto'
import { isDoneWithin } from '../../../async/deadline.ts'
import { BoundedQueue } from '../../../async/queue.ts'
import * as v from '../../../schema.ts'
import { type Agent, AgentDied, type AgentEvent, type Answers, type Image, type StartAgent, type UnsentHistory } from '../agent.ts'
import { type AttachedScreen, attachScreen } from '../attached-screen.ts'
import { chooseMode, noSuchMode } from '../modes.ts'
import { newerThanTested } from '../programs.ts'
import { createTranslator } from './history.ts'
import { cautious, createSettings, modesAt, type Settings } from './options.ts'
import { createRequests, type Requests } from './requests.ts'
import { type CodexServer, greet, type Line, type LineHandlers, Refused, type RequestId, startCodexServer } from './server.ts'
import { codexWindows, modelList, notification, readRateLimits, turnStarted } from './shapes.ts'
import { createThreads, type Threads } from './threads.ts'
import { createTurns, type Turns } from './turns.ts'

interface SharedCodexOptions {
  codex: string
  /** Of the program. */
  version: string | undefined
  how: StartAgent
}

/**
 * One conversation on Codex's own app server: its screen at the terminal and the phone are both attached to
 * it, all the time. Without a terminal there is no screen, and only the phone.
 */
export async function startSharedCodex({ home, ...options }: SharedCodexOptions & { home: string }): Promise<Agent> {
  const { codex, how } = options
  return openSharedCodex(options, handlers => startCodexServer({ home, codex, directory: how.directory, env: how.env, handlers }))
}

/** Opens the conversation on a server that is started now, and ends that if it fails. */
export async function openSharedCodex(
  options: SharedCodexOptions,
  startServer: (handlers: LineHandlers) => Promise<CodexServer>
): Promise<Agent> {
  const hearing: { agent?: SharedCodex } = {}
  const server = await startServer({
    onNotification: (method, params) => hearing.agent?.hear(method, params),
    onRequest: (id, method, params) => hearing.agent?.hearAsked(id, method, params)
  })
  const agent = new SharedCodex(options, server)
  hearing.agent = agent
  try {
    await agent.open()
    return agent
  } catch (error) {
    await agent.stop()
    throw error
  }
}

// Codex first asks on its own screen whether it may work in a folder; it has no thread until then.
const threadWithinMs = 3_000
const strangeAnswer = 'Codex accepted this message and sent an answer that Afield does not understand.'
const endTurnWithinMs = 1_500
const endWithinMs = 500
const slowReader = 64
const ownMessage = 'afield-'
const isOurs = (clientId: string | undefined) => clientId?.startsWith(ownMessage) ?? false

class SharedCodex implements Agent {
  readonly version: string | undefined
  readonly takesImages = true
  readonly writesDown = true
  readonly events = new BoundedQueue<AgentEvent>(Number.POSITIVE_INFINITY)
  readonly ownScreen?: AttachedScreen
  readonly requests: Requests
  unsent?: UnsentHistory
  readonly #how: StartAgent
  readonly #server: CodexServer
  readonly #line: Line
  readonly #turns: Turns
  readonly #threads: Threads
  #settings: Settings | undefined
  #isStopping = false

  constructor({ codex, version, how }: SharedCodexOptions, server: CodexServer) {
    this.version = version
    this.#how = how
    this.#server = server
    this.#line = server.line
    const emit = (event: AgentEvent) => this.#emit(event)
    const translator = createTranslator({ emit, isOurs })
    this.requests = createRequests({ emit, reply: (id, result) => server.line.reply(id, result), step: call => translator.step(call) })
    this.#turns = createTurns({
      emit,
      translator,
      requests: this.requests,
      onSettings: settings => this.#settings?.changed(settings),
      onEnd: () => this.#threads.goOn()
    })
    this.#threads = createThreads({
      line: server.line,
      how,
      turns: this.#turns,
      requests: this.requests,
      settings: () => this.#settings,
      screen: () => this.ownScreen,
      emit,
      isOurs,
      onUnsent: unsent => {
        if (unsent) this.unsent = unsent
        else delete this.unsent
      }
    })
    if (how.screen) {
      const { directory, env } = how
      this.ownScreen = attachScreen({
        screen: how.screen,
        program: () => ({ command: codex, args: this.#screenArguments(), directory, env }),
        onClosed: how =>
          how !== undefined &&
          this.#emit({ type: 'notice', text: `Codex’s own screen was closed (${how}). The session continues on your phone.` })
      })
    }
    void this.#line.closed.then(() => server.process.end(endWithinMs))
    void server.process.ended.then(ended => this.#finish(ended))
  }

  get conversation(): string {
    return this.#threads.conversation
  }

  async open(): Promise<void> {
    const { resume, mode } = this.#how
    await greet(this.#line)
    const models = v.parse(modelList, await this.#line.request('model/list', {})).data
    this.#settings = createSettings({
      emit: event => this.#emit(event),
      line: this.#line,
      models,
      mode: chooseMode(modesAt('default'), mode) ?? 'default'
    })
    void this.#tellWindows()
    const isResumed = resume !== undefined && (await this.#threads.resume(resume))
    if (this.ownScreen) await this.#openScreen(isResumed)
    else if (!isResumed) {
      await this.#threads.begin()
      if (resume !== undefined) this.#emit({ type: 'conversation', id: this.conversation })
    }
    for (const text of [newerThanTested('codex', 'Codex', this.version), noSuchMode('Codex', modesAt('default'), mode)]) {
      if (text !== undefined) this.#emit({ type: 'notice', text })
    }
  }

  async prompt(text: string, images: readonly Image[] = []): Promise<boolean> {
    if (this.#isStopping || this.#line.isClosed) return false
    await isDoneWithin(threadWithinMs, this.#threads.hasOne)
    let isGiven = false
    try {
      if (this.conversation === '') await this.#threads.begin()
      const message = { threadId: this.conversation, clientUserMessageId: `${ownMessage}${randomUUID()}`, input: inputOf(text, images) }
      const started = await this.#line.request('turn/start', message)
      isGiven = true
      this.#turns.begin(v.parse(turnStarted, started).turn.id)
      await this.#threads.join()
      return true
    } catch (error) {
      if (this.#line.isClosed || !(error instanceof Refused || isGiven)) return false
      this.#emit({ type: 'turn-ended', reason: 'failed', error: error instanceof Refused ? error.message : strangeAnswer })
      return true
    }
  }

  async steer(text: string, images: readonly Image[] = []): Promise<boolean> {
    const expectedTurnId = this.#turns.running
    if (expectedTurnId === undefined) return false
    const message = { threadId: this.conversation, clientUserMessageId: `${ownMessage}${randomUUID()}`, input: inputOf(text, images) }
    return this.#tries('turn/steer', { ...message, expectedTurnId })
  }

  answer(ask: string, choice: string): boolean {
    return this.requests.answer(ask, choice)
  }

  answerQuestion(ask: string, answers: Answers | undefined): boolean {
    return this.requests.answerQuestion(ask, answers)
  }

  async setMode(mode: string): Promise<boolean> {
    return (await this.#settings?.setMode(this.conversation, mode)) ?? false
  }

  async setModel(model: string): Promise<boolean> {
    return (await this.#settings?.setModel(this.conversation, model)) ?? false
  }

  async setEffort(effort: string): Promise<boolean> {
    return (await this.#settings?.setEffort(this.conversation, effort)) ?? false
  }

  fork(): Promise<string> {
    return this.#threads.fork()
  }

  async cancel(): Promise<void> {
    const turnId = this.#turns.running
    if (turnId !== undefined) await this.#tries('turn/interrupt', { threadId: this.conversation, turnId })
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.ownScreen?.close()
    if (this.#turns.running !== undefined) {
      const { ended } = this.#turns
      await this.cancel()
      await isDoneWithin(endTurnWithinMs, Promise.race([ended, this.#server.process.ended]))
    }
    this.#line.close()
    await this.#server.process.end(endWithinMs)
  }

  hear(method: string, params: unknown): void {
    const { data } = v.safeParse(notification, { method, params })
    if (data) this.#threads.hear(data)
  }

  hearAsked(id: RequestId, method: string, params: unknown): void {
    this.#threads.hearAsked(() => this.requests.ask(id, method, params))
  }

  #screenArguments(): string[] {
    const { approvalPolicy, approvalsReviewer, sandbox } = cautious
    const asks = [`approval_policy="${approvalPolicy}"`, `approvals_reviewer="${approvalsReviewer}"`, `sandbox_mode="${sandbox}"`]
    const at = ['--remote', this.#server.address]
    // An existing one has its own.
    return this.#turns.hasAny ? ['resume', this.conversation, ...at] : [...asks.flatMap(setting => ['-c', setting]), ...at]
  }

  async #openScreen(isResumed: boolean): Promise<void> {
    this.ownScreen?.open()
    if (isResumed) return
    await isDoneWithin(threadWithinMs, Promise.race([this.#threads.hasOne, this.#server.process.ended]))
    if (this.conversation === '') this.#settings?.began({ model: undefined, effort: undefined })
  }

  async #tries(method: string, params: object): Promise<boolean> {
    try {
      await this.#line.request(method, params)
      return true
    } catch {
      return false
    }
  }

  /** A person with their own API key has none. */
  async #tellWindows(): Promise<void> {
    const read = await this.#line.request('account/rateLimits/read', {}).catch(() => undefined)
    const windows = codexWindows(v.safeParse(readRateLimits, read).data?.rateLimits ?? {})
    if (windows.length > 0) this.#emit({ type: 'usage-windows', windows })
  }

  #emit(event: AgentEvent): void {
    // Growing text comes again with the next piece, so a slow reader may skip some.
    if (event.type === 'text-grew' && this.events.length > slowReader) return
    this.events.offer(event)
  }

  async #finish(ended: string): Promise<void> {
    this.requests.closeAll()
    const turn = this.#turns.running
    if (turn !== undefined && this.#isStopping) this.#turns.end({ id: turn, status: 'interrupted', error: undefined })
    else this.#turns.lose({ message: `The agent exited unexpectedly (${ended}).` })
    await this.ownScreen?.close()
    if (this.#isStopping) this.events.close()
    else this.events.fail(new AgentDied(ended, this.#server.process.lastLines()))
  }
}

function inputOf(text: string, images: readonly Image[]): object[] {
  const urls = images.map(({ mimeType, bytes }) => `data:${mimeType};base64,${Buffer.from(bytes).toString('base64')}`)
  return [{ type: 'text', text, text_elements: [] }, ...urls.map(url => ({ type: 'image', url }))]
}
