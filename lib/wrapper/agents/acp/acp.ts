import { type ClientConnection, methods } from '@agentclientprotocol/sdk'
import { withDeadline } from '../../../async/deadline.ts'
import { BoundedQueue } from '../../../async/queue.ts'
import { CannotStart } from '../../../exit.ts'
import * as v from '../../../schema.ts'
import {
  type Agent,
  AgentDied,
  type AgentEvent,
  type Answers,
  type Image,
  type StartAgent,
  type TurnEnd,
  type UnsentHistory
} from '../agent.ts'
import { chooseMode, findMode, noSuchMode } from '../modes.ts'
import { type AgentProcess, startProcess } from '../process.ts'
import { createTurnTracker, followReplay, followReplayFrom, placeOf, readPlace, type TurnTracker } from './history.ts'
import { blocksOf, type Initialized, openedSession, promptEnded, steered, type Update } from './messages.ts'
import { createOptionChanges, createOptions } from './options.ts'
import { endOfTurn, explain } from './refusals.ts'
import { createRequests } from './requests.ts'
import { isGone, openConversation, openLine, sayHello, whyNotOpened } from './server.ts'
import { createPrompting, createTurns, type LostEnd } from './turns.ts'

export interface AcpProgram {
  command: string
  args: readonly string[]
  /** Its name in messages for the person at the terminal. */
  title: string
  /** Called once it runs, to report what it does not report itself; the returned function is called at its end. */
  beside?: (agent: Agent, tell: (event: AgentEvent) => void) => () => void
  /** Additional data requested from it, and how to parse that. */
  more?: { asked: object; read(method: string, params: unknown): AgentEvent | undefined }
  /** Its replay of a conversation is the only source for output that nobody received. */
  isHeardAgain?: boolean
}

/** Runs any program that speaks the Agent Client Protocol, version 1, over its standard input and output. */
export async function startAcp(program: AcpProgram, how: StartAgent): Promise<Agent> {
  return openAcp(program, await startProcess({ ...program, directory: how.directory, env: how.env }), how)
}

/** Opens a conversation with one that runs, and ends it if that fails. */
export async function openAcp(program: AcpProgram, child: AgentProcess, how: StartAgent): Promise<Agent> {
  const agent = new AcpAgent(program, child, how.directory)
  try {
    await agent.open(how)
    const endBeside = program.beside?.(agent, event => agent.events.offer(event))
    void child.ended.then(endBeside)
    return agent
  } catch (error) {
    await child.end(0)
    throw error
  }
}

// On its first start an agent may unpack or update itself; a program with another protocol never answers.
const openingMs = 90_000
const slowReader = 64
// The events of a turn.
const isWork = new Set<Update['sessionUpdate']>(['agent_message_chunk', 'agent_thought_chunk', 'tool_call', 'tool_call_update', 'plan'])

class AcpAgent implements Agent {
  conversation = ''
  version: string | undefined
  takesImages = false
  steer?: (text: string, images?: readonly Image[]) => Promise<boolean>
  fork?: () => Promise<string>
  unsent?: UnsentHistory
  readonly events = new BoundedQueue<AgentEvent>(Number.POSITIVE_INFINITY)
  readonly #program: AcpProgram
  readonly #child: AgentProcess
  readonly #directory: string
  readonly #connection: ClientConnection
  readonly #turns = createTurns(event => this.#emit(event))
  readonly #requests = createRequests(event => this.#emit(event))
  readonly #options = createOptions(event => this.#emit(event))
  readonly #choosing = createOptionChanges({
    options: this.#options,
    ask: ({ method, params }) => this.#connection.agent.request(method, { sessionId: this.conversation, ...params }),
    openAgain: async () => this.#isReady && (await this.#reopen()) && this.#tellAgain()
  })
  readonly #prompting = createPrompting({
    say: (text, images) => this.#say(text, images),
    isCut: () => this.#connection.signal.aborted,
    end: () => this.#endInTurn(),
    isGone: () => this.#choosing.isGone(),
    openAgain: () => this.#reopen(),
    tellAgain: () => {
      this.#tracker?.promptAgain()
      this.#tellAgain()
    },
    title: () => this.#program.title
  })
  /** Undefined for an agent that does not replay its output, or whose output is recovered in another way. */
  #tracker: TurnTracker | undefined
  #past: ReturnType<typeof followReplay | typeof followReplayFrom> | undefined
  #hello: Initialized | undefined
  #isReady = false
  /** The agent can resume its conversation. */
  #isWrittenDown = false
  #isStopping = false
  /** The agent is alive, but a program it depends on has ended: the cause. */
  #brokenBy: string | undefined
  #reopening: Promise<boolean> | undefined
  #turn: Promise<void> = Promise.resolve()

  constructor(program: AcpProgram, child: AgentProcess, directory: string) {
    this.#program = program
    this.#child = child
    this.#directory = directory
    this.#connection = openLine(child, {
      onPermission: (question, signal) => {
        this.#prompting.hear()
        const asked = this.#turns.ask(question, this.#helperOf(question.sessionId))
        return this.#requests.permission(asked, signal)
      },
      onQuestion: (question, signal) => this.#requests.question(question, signal),
      onLinkDone: id => this.#requests.linkDone(id),
      onUpdate: (session, update) => this.#hear(session, update),
      onMore: (method, params) => {
        const event = this.#program.more?.read(method, params)
        if (event?.type === 'retrying') this.#turns.withdraw()
        if (event) this.#emit(event)
      }
    })
    // An agent that closed or corrupted its output can no longer be used.
    void this.#connection.closed.then(() => child.end())
    void child.ended.then(ended => this.#finish(ended))
  }

  async open(how: StartAgent): Promise<void> {
    const opening = withDeadline(openingMs, () => this.#openSession(how), { signal: how.signal })
    const died = this.#child.ended.then(ended => {
      throw this.#refusal(`${this.#program.title} exited before it was ready (${ended}).`)
    })
    try {
      await Promise.race([opening, died])
    } catch (error) {
      throw error instanceof CannotStart ? error : await this.#whyNot(error)
    }
  }

  async prompt(text: string, images: readonly Image[] = []): Promise<boolean> {
    await this.#turn
    if (this.#connection.signal.aborted) return false
    this.#turns.begin()
    this.#tracker?.begin(text)
    this.#tellPlace()
    this.#turn = this.#prompting.run(text, images).then(({ isLost, ...end }) => {
      this.#requests.closeAll()
      if (!isLost && end.reason !== 'failed') this.#isWrittenDown = true
      this.#turns.end(end, isLost)
    })
    return true
  }

  answer(ask: string, choice: string): boolean {
    const answered = this.#requests.answer(ask, choice)
    if (answered?.isNo) this.#turns.deny(answered.call)
    return answered !== undefined
  }

  answerQuestion(ask: string, answers: Answers | undefined): boolean {
    return this.#requests.answerQuestion(ask, answers)
  }

  async setMode(wish: string): Promise<boolean> {
    const modes = this.#options.of('mode')
    const id = modes && findMode(modes, wish)
    return id !== undefined && (await this.#choosing.choose('mode', id))
  }

  setModel(model: string): Promise<boolean> {
    return this.#choosing.choose('model', model)
  }

  setEffort(effort: string): Promise<boolean> {
    return this.#choosing.choose('effort', effort)
  }

  setSetting(id: string, value: string): Promise<boolean> {
    return this.#choosing.chooseSetting(id, value)
  }

  async cancel(): Promise<void> {
    this.#requests.closeAll()
    this.#prompting.cancel()
    if (this.#connection.signal.aborted) return
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId: this.conversation }).catch(() => {})
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#requests.closeAll()
    await this.#child.end()
    await this.#turn
  }

  async #openSession(how: StartAgent): Promise<void> {
    const { agent } = this.#connection
    const { title } = this.#program
    const hello = await sayHello(agent, title)
    this.#hello = hello
    this.#noteAbilities(hello)
    const place = how.sentUpTo && readPlace(how.sentUpTo)
    if (this.#tracker && place && place.conversation === how.resume) this.#past = followReplayFrom(place)
    else if (how.isUnsent && how.resume !== undefined) this.#past = followReplay(how.resume)
    const isOpen = this.#past !== undefined && place?.isEnded !== true
    const { opened, isRepeated } = await openConversation(
      agent,
      title,
      { ...how, isUnsent: isOpen, more: this.#program.more?.asked },
      hello
    )
    if (this.#past && isRepeated) this.unsent = this.#past.end()
    this.#tracker?.goOn(how.resume === undefined ? 0 : isRepeated ? this.#past?.messages : place?.messages)
    this.#past = undefined
    this.conversation = opened.sessionId ?? how.resume ?? ''
    this.#isWrittenDown = how.resume !== undefined
    this.#isReady = true
    this.#options.take(opened)
    await this.#settleMode(how.mode)
    this.#options.tell()
  }

  #noteAbilities({ agentInfo, agentCapabilities, _meta }: Initialized): void {
    this.version = agentInfo?.version
    this.takesImages = agentCapabilities?.promptCapabilities?.image ?? false
    if (_meta?.steering?.supported) this.steer = (text, images = []) => this.#steer(text, images)
    if (agentCapabilities?.loadSession && this.#program.isHeardAgain) this.#tracker = createTurnTracker()
    if (agentCapabilities?.sessionCapabilities?.fork) this.fork = () => this.#fork()
  }

  async #settleMode(wish: string | undefined): Promise<void> {
    const { title } = this.#program
    const modes = this.#options.of('mode')
    const id = modes && chooseMode(modes, wish)
    const isSet = id !== undefined && (await this.#choosing.choose('mode', id))
    const now = this.#options.of('mode')
    const text = modes && !isSet ? `${title} has no mode that asks for approval; it decides by itself.` : noSuchMode(title, now, wish)
    if (text !== undefined) this.#emit({ type: 'notice', text })
    if (now) this.#emit({ type: 'modes', modes: now })
  }

  #hear(session: string, update: Update): void {
    // History that it replays is not output of the turn.
    if (this.#isReady && isWork.has(update.sessionUpdate)) this.#prompting.hear()
    const helper = this.#helperOf(session)
    if (helper !== undefined) this.#turns.take(update, helper)
    else if (session === this.conversation || !this.#isReady) this.#take(update)
  }

  #take(update: Update): void {
    if (update.sessionUpdate === 'current_mode_update') this.#options.note('mode', update.currentModeId)
    if (update.sessionUpdate === 'config_option_update') this.#options.take(update)
    if (this.#isReady || update.sessionUpdate === 'available_commands_update') this.#turns.take(update)
    // Before the session is open, an agent that loads one replays its history, which usually was sent
    // already.
    else this.#past?.take(update)
  }

  #helperOf(session: string): string | undefined {
    return this.#turns.isHelper(session) ? session : undefined
  }

  async #say(text: string, images: readonly Image[]): Promise<TurnEnd> {
    const prompt = { sessionId: this.conversation, prompt: blocksOf(text, images) }
    const reply = await this.#connection.agent.request(methods.agent.session.prompt, prompt)
    return endOfTurn(v.parse(promptEnded, reply).stopReason)
  }

  async #endInTurn(): Promise<LostEnd> {
    const ended = await this.#child.ended
    if (this.#isStopping) return { reason: 'cancelled' }
    return { reason: 'failed', error: `The agent exited unexpectedly (${this.#brokenBy ?? ended}).`, isLost: true }
  }

  /**
   * The program that the agent drives has ended, and the conversation with it; the agent resumes it. If it
   * cannot, it is ended too.
   */
  #reopen(): Promise<boolean> {
    this.#reopening ??= this.#openAgain().finally(() => {
      this.#reopening = undefined
    })
    return this.#reopening
  }

  #tellAgain(): true {
    this.#emit({ type: 'notice', text: `${this.#program.title} exited unexpectedly and was restarted.` })
    return true
  }

  async #openAgain(): Promise<boolean> {
    const { title } = this.#program
    const { chosen } = this.#options
    const at = { directory: this.#directory, resume: this.conversation, more: this.#program.more?.asked }
    this.#isReady = false
    try {
      if (!this.#hello) return false
      const hello = this.#hello
      const open = (more: object) =>
        withDeadline(openingMs, () => openConversation(this.#connection.agent, title, { ...at, ...more }, hello))
      const { opened } = await open({}).catch(error => {
        if (this.#isWrittenDown || !isGone(error)) throw error
        return open({ resume: undefined })
      })
      this.#goOnIn(opened.sessionId ?? this.conversation)
      this.#options.take(opened)
      await this.#choosing.restore(chosen)
      await this.#settleMode(chosen.mode)
      return true
    } catch (error) {
      this.#brokenBy = `it could not start the conversation over: ${explain(error)}`
      void this.#child.end(0)
      return false
    } finally {
      this.#isReady = true
    }
  }

  /**
   * An agent that ended within its first words had recorded nothing: it has lost its input, and the
   * conversation has another id.
   */
  #goOnIn(conversation: string): void {
    if (conversation === this.conversation) return
    this.conversation = conversation
    this.#tracker?.goOn(0)
    this.#emit({ type: 'conversation', id: conversation })
    this.#emit({ type: 'notice', text: `${this.#program.title} had not saved this conversation yet, so a new one starts.` })
  }

  /** Input that the agent cannot accept during the running turn stays in our queue. */
  async #steer(text: string, images: readonly Image[]): Promise<boolean> {
    try {
      const _meta = { steering: { idleBehavior: 'promptRequired' } }
      const prompt = { sessionId: this.conversation, prompt: blocksOf(text, images), _meta }
      const { outcome } = v.parse(steered, await this.#connection.agent.request('_session/steering', prompt))
      if (outcome === 'promptRequired') return false
      this.#tracker?.steer(text)
      this.#tellPlace()
      return true
    } catch {
      return false
    }
  }

  async #fork(): Promise<string> {
    const from = { sessionId: this.conversation, cwd: this.#directory, mcpServers: [] }
    const { sessionId } = v.parse(openedSession, await this.#connection.agent.request('session/fork', from))
    if (sessionId === undefined) throw new Error(`${this.#program.title} did not return the ID of the forked conversation.`)
    return sessionId
  }

  #emit(event: AgentEvent): void {
    // Growing text comes again with the next chunk, so a slow reader may skip some.
    if (event.type === 'text-grew' && this.events.length > slowReader) return
    this.events.offer(this.#tracker?.name(event) ?? event)
    // While the reader is behind, intermediate states need no place of their own.
    if (event.type === 'turn-ended' || (this.#tracker?.isSettled(event) && this.events.length <= 1)) this.#tellPlace()
  }

  #tellPlace(): void {
    const place = this.#tracker?.place(this.conversation)
    if (place) this.events.offer({ type: 'history-read', upTo: placeOf(place) })
  }

  async #finish(ended: string): Promise<void> {
    await this.#turn
    this.#requests.closeAll()
    if (this.#isStopping) this.events.close()
    else this.events.fail(new AgentDied(this.#brokenBy ?? ended, this.#child.lastLines()))
  }

  async #whyNot(error: unknown): Promise<CannotStart> {
    const { title } = this.#program
    if (!this.#connection.signal.aborted) return this.#refusal(whyNotOpened(title, error, openingMs))
    const ended = await this.#child.ended
    return this.#refusal(`${title} exited before it was ready (${ended}).`)
  }

  #refusal(sentence: string): CannotStart {
    const last = this.#child.lastLines()
    return new CannotStart(last === '' ? sentence : `${sentence}\nIts last output:\n${last.replace(/^/gm, '  ')}`)
  }
}
