import { type ClientConnection, methods } from '@agentclientprotocol/sdk'
import { withDeadline } from '../../async/deadline.ts'
import { BoundedQueue } from '../../async/queue.ts'
import { CannotStart } from '../../exit.ts'
import { createAsking } from './acp-asking.ts'
import { blocksOf } from './acp-blocks.ts'
import { openLine } from './acp-line.ts'
import { type Initialized, openedSession, promptEnded, steered, type Update } from './acp-messages.ts'
import { openConversation, sayHello, whyNotOpened } from './acp-opening.ts'
import { createOptions, type OptionKind, type OptionRequest } from './acp-options.ts'
import { listenToPast } from './acp-past.ts'
import { createTold, placeOf, readPlace, type Told } from './acp-places.ts'
import { endOfTurn, explain } from './acp-refusals.ts'
import { listenForRest } from './acp-rest.ts'
import { createTurns } from './acp-turns.ts'
import { type Agent, AgentDied, type AgentEvent, type Answers, type Image, type StartAgent, type TurnEnd, type Untold } from './agent.ts'
import { chooseMode, findMode, noSuchMode } from './modes.ts'
import { type AgentProcess, startProcess } from './process.ts'

export interface AcpProgram {
  command: string
  args: readonly string[]
  /** What to call it in messages for the person at the terminal. */
  title: string
  /** Called once it runs, to tell what it does not say itself; what it returns is called at its end. */
  beside?: (agent: Agent, tell: (event: AgentEvent) => void) => () => void
  /** What it repeats of a conversation is the only way to hear what it said while nobody listened. */
  isHeardAgain?: boolean
}

/** Runs any program that speaks the Agent Client Protocol, version 1, over its standard input and output. */
export async function startAcp(program: AcpProgram, how: StartAgent): Promise<Agent> {
  const child = await startProcess({ ...program, directory: how.directory, env: how.env })
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

// The first start of an agent may unpack or update itself; a program that speaks something else never answers.
const openingMs = 90_000
const slowReader = 64

class AcpAgent implements Agent {
  conversation = ''
  version: string | undefined
  takesImages = false
  steer?: (text: string, images?: readonly Image[]) => Promise<boolean>
  fork?: () => Promise<string>
  untold?: Untold
  readonly events = new BoundedQueue<AgentEvent>(Number.POSITIVE_INFINITY)
  readonly #program: AcpProgram
  readonly #child: AgentProcess
  readonly #directory: string
  readonly #connection: ClientConnection
  readonly #turns = createTurns(event => this.#emit(event))
  readonly #asking = createAsking(event => this.#emit(event))
  readonly #options = createOptions(event => this.#emit(event))
  /** Undefined for an agent that does not repeat what it said, or that is heard again in another way. */
  #told: Told | undefined
  #past: ReturnType<typeof listenToPast | typeof listenForRest> | undefined
  #isReady = false
  #isStopping = false
  #turn: Promise<void> = Promise.resolve()

  constructor(program: AcpProgram, child: AgentProcess, directory: string) {
    this.#program = program
    this.#child = child
    this.#directory = directory
    this.#connection = openLine(child, {
      onPermission: (question, signal) => {
        const asked = this.#turns.ask(question, this.#helperOf(question.sessionId))
        return this.#asking.permission(asked, signal)
      },
      onQuestion: (question, signal) => this.#asking.question(question, signal),
      onLinkDone: id => this.#asking.linkDone(id),
      onUpdate: (session, update) => this.#hear(session, update)
    })
    // An agent that closed its output, or broke it, cannot be talked to any more.
    void this.#connection.closed.then(() => child.end())
    void child.ended.then(ended => this.#finish(ended))
  }

  async open(how: StartAgent): Promise<void> {
    const opening = withDeadline(openingMs, () => this.#openSession(how), { signal: how.signal })
    const died = this.#child.ended.then(ended => {
      throw this.#refusal(`${this.#program.title} ended before it was ready (${ended}).`)
    })
    try {
      await Promise.race([opening, died])
    } catch (error) {
      throw error instanceof CannotStart ? error : await this.#whyNot(error)
    } finally {
      opening.catch(() => {})
      died.catch(() => {})
    }
  }

  async prompt(text: string, images: readonly Image[] = []): Promise<boolean> {
    await this.#turn
    if (this.#connection.signal.aborted) return false
    this.#turns.begin()
    this.#told?.begin(text)
    this.#tellPlace()
    this.#turn = this.#run(text, images).then(end => {
      this.#asking.closeAll()
      this.#turns.end(end, this.#connection.signal.aborted && !this.#isStopping)
    })
    return true
  }

  answer(ask: string, choice: string): boolean {
    const answered = this.#asking.answer(ask, choice)
    if (answered?.isNo) this.#turns.deny(answered.call)
    return answered !== undefined
  }

  answerQuestion(ask: string, answers: Answers | undefined): boolean {
    return this.#asking.answerQuestion(ask, answers)
  }

  async setMode(wish: string): Promise<boolean> {
    const modes = this.#options.of('mode')
    const id = modes && findMode(modes, wish)
    return id !== undefined && (await this.#choose('mode', id))
  }

  setModel(model: string): Promise<boolean> {
    return this.#choose('model', model)
  }

  setEffort(effort: string): Promise<boolean> {
    return this.#choose('effort', effort)
  }

  setSetting(id: string, value: string): Promise<boolean> {
    return this.#request(this.#options.settingRequest(id, value), () => this.#options.noteSetting(id, value))
  }

  async cancel(): Promise<void> {
    this.#asking.closeAll()
    if (this.#connection.signal.aborted) return
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId: this.conversation }).catch(() => {})
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#asking.closeAll()
    await this.#child.end()
    await this.#turn
  }

  async #openSession(how: StartAgent): Promise<void> {
    const { agent } = this.#connection
    const { title } = this.#program
    const hello = await sayHello(agent, title)
    this.#noteAbilities(hello)
    const place = how.toldUpTo && readPlace(how.toldUpTo)
    if (this.#told && place && place.conversation === how.resume) this.#past = listenForRest(place)
    else if (how.isUntold && how.resume !== undefined) this.#past = listenToPast(how.resume)
    const isOpen = this.#past !== undefined && place?.isEnded !== true
    const { opened, isRepeated } = await openConversation(agent, title, { ...how, isUntold: isOpen }, hello)
    if (this.#past && isRepeated) this.untold = this.#past.end()
    this.#told?.goOn(how.resume === undefined ? 0 : isRepeated ? this.#past?.messages : place?.messages)
    this.#past = undefined
    this.conversation = opened.sessionId ?? how.resume ?? ''
    this.#isReady = true
    this.#options.take(opened)
    await this.#settleMode(how.mode)
    this.#options.tell()
  }

  #noteAbilities({ agentInfo, agentCapabilities, _meta }: Initialized): void {
    this.version = agentInfo?.version
    this.takesImages = agentCapabilities?.promptCapabilities?.image ?? false
    if (_meta?.steering?.supported) this.steer = (text, images = []) => this.#steer(text, images)
    if (agentCapabilities?.loadSession && this.#program.isHeardAgain) this.#told = createTold()
    if (agentCapabilities?.sessionCapabilities?.fork) this.fork = () => this.#fork()
  }

  async #settleMode(wish: string | undefined): Promise<void> {
    const { title } = this.#program
    const modes = this.#options.of('mode')
    const id = modes && chooseMode(modes, wish)
    const isSet = id !== undefined && (await this.#choose('mode', id))
    const now = this.#options.of('mode')
    const text = modes && !isSet ? `${title} has no mode in which it asks; it decides by itself.` : noSuchMode(title, now, wish)
    if (text !== undefined) this.#emit({ type: 'notice', text })
    if (now) this.#emit({ type: 'modes', modes: now })
  }

  /** Set even when it is said to be the current one: an agent may begin in another than it tells. */
  #choose(kind: OptionKind, id: string): Promise<boolean> {
    return this.#request(this.#options.request(kind, id), () => this.#options.note(kind, id))
  }

  async #request(request: OptionRequest | undefined, note: () => void): Promise<boolean> {
    if (!request) return false
    try {
      const reply = await this.#connection.agent.request(request.method, { sessionId: this.conversation, ...request.params })
      const { data } = openedSession.safeParse(reply)
      // With another model there may be other levels of thought.
      if (data) this.#options.take(data)
    } catch {
      return false
    }
    note()
    return true
  }

  #hear(session: string, update: Update): void {
    const helper = this.#helperOf(session)
    if (helper !== undefined) this.#turns.take(update, helper)
    else if (session === this.conversation || !this.#isReady) this.#take(update)
  }

  #take(update: Update): void {
    if (update.sessionUpdate === 'current_mode_update') this.#options.note('mode', update.currentModeId)
    if (update.sessionUpdate === 'config_option_update') this.#options.take(update)
    if (this.#isReady || update.sessionUpdate === 'available_commands_update') this.#turns.take(update)
    // Before the session is open an agent that loads one repeats its history, most of the time one that was told already.
    else this.#past?.take(update)
  }

  #helperOf(session: string): string | undefined {
    return this.#turns.isHelper(session) ? session : undefined
  }

  async #run(text: string, images: readonly Image[]): Promise<TurnEnd> {
    try {
      const prompt = { sessionId: this.conversation, prompt: blocksOf(text, images) }
      const reply = await this.#connection.agent.request(methods.agent.session.prompt, prompt)
      return endOfTurn(promptEnded.parse(reply).stopReason)
    } catch (error) {
      if (!this.#connection.signal.aborted) return { reason: 'failed', error: explain(error) }
      const ended = await this.#child.ended
      return this.#isStopping ? { reason: 'cancelled' } : { reason: 'failed', error: `The agent ended by itself (${ended}).` }
    }
  }

  /** What the agent cannot take into the turn that runs stays ours to say. */
  async #steer(text: string, images: readonly Image[]): Promise<boolean> {
    try {
      const _meta = { steering: { idleBehavior: 'promptRequired' } }
      const prompt = { sessionId: this.conversation, prompt: blocksOf(text, images), _meta }
      const { outcome } = steered.parse(await this.#connection.agent.request('_session/steering', prompt))
      if (outcome === 'promptRequired') return false
      this.#told?.steer(text)
      this.#tellPlace()
      return true
    } catch {
      return false
    }
  }

  async #fork(): Promise<string> {
    const from = { sessionId: this.conversation, cwd: this.#directory, mcpServers: [] }
    const { sessionId } = openedSession.parse(await this.#connection.agent.request('session/fork', from))
    if (sessionId === undefined) throw new Error(`${this.#program.title} did not say what its second conversation is called.`)
    return sessionId
  }

  #emit(event: AgentEvent): void {
    // Growing text is told again with the next chunk, so a slow reader need not hear of every one.
    if (event.type === 'text-grew' && this.events.length > slowReader) return
    this.events.offer(this.#told?.name(event) ?? event)
    // While the reader is behind, what it has in front of it is not worth a place of its own.
    if (event.type === 'turn-ended' || (this.#told?.isSettled(event) && this.events.length <= 1)) this.#tellPlace()
  }

  #tellPlace(): void {
    const place = this.#told?.place(this.conversation)
    if (place) this.events.offer({ type: 'told', upTo: placeOf(place) })
  }

  async #finish(ended: string): Promise<void> {
    await this.#turn
    this.#asking.closeAll()
    if (this.#isStopping) this.events.close()
    else this.events.fail(new AgentDied(ended, this.#child.lastLines()))
  }

  async #whyNot(error: unknown): Promise<CannotStart> {
    const { title } = this.#program
    if (!this.#connection.signal.aborted) return this.#refusal(whyNotOpened(title, error, openingMs))
    const ended = await this.#child.ended
    return this.#refusal(`${title} ended before it was ready (${ended}).`)
  }

  #refusal(sentence: string): CannotStart {
    const last = this.#child.lastLines()
    return new CannotStart(last === '' ? sentence : `${sentence}\nIts last lines:\n${last.replace(/^/gm, '  ')}`)
  }
}
