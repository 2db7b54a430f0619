import {
  type AnyMessage,
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError
} from '@agentclientprotocol/sdk'
import { ZodError } from 'zod'
import { version } from '../../assets.ts'
import { withDeadline } from '../../async/deadline.ts'
import { BoundedQueue } from '../../async/queue.ts'
import { CannotStart } from '../../exit.ts'
import {
  type Initialized,
  initialized,
  openedSession,
  permissionQuestion,
  promptEnded,
  sessionNotification,
  type Update
} from './acp-messages.ts'
import { createTurns, modesOf } from './acp-turns.ts'
import { type Agent, AgentDied, type AgentEvent, type Modes, type PermissionAsk, type StartAgent, type TurnEnd } from './agent.ts'
import { chooseMode, findMode } from './modes.ts'
import { type AgentProcess, startProcess } from './process.ts'

export interface AcpProgram {
  command: string
  args: readonly string[]
  /** What to call it in messages for the person at the terminal. */
  title: string
}

/** Runs any program that speaks the Agent Client Protocol, version 1, over its standard input and output. */
export async function startAcp(program: AcpProgram, how: StartAgent): Promise<Agent> {
  const child = await startProcess({ ...program, directory: how.directory, env: how.env })
  const agent = new AcpAgent(program, child)
  try {
    await agent.open(how)
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
  readonly events = new BoundedQueue<AgentEvent>(Number.POSITIVE_INFINITY)
  readonly #program: AcpProgram
  readonly #child: AgentProcess
  readonly #connection: ClientConnection
  readonly #turns = createTurns(event => this.#emit(event))
  readonly #open = new Map<string, { asked: PermissionAsk; settle(choice: string | undefined): void }>()
  #modes: { modes: Modes; option: string | undefined } | undefined
  #isReady = false
  #isStopping = false
  #turn: Promise<void> = Promise.resolve()

  constructor(program: AcpProgram, child: AgentProcess) {
    this.#program = program
    this.#child = child
    const { readable, writable } = ndJsonStream(child.input, child.output)
    this.#connection = client({ name: 'afield' })
      .onRequest(
        methods.client.session.requestPermission,
        params => permissionQuestion.parse(params),
        async ({ params, signal }) => {
          const choice = await this.#ask(this.#turns.ask(params), signal)
          return { outcome: choice === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: choice } }
        }
      )
      .connect({ readable: readable.pipeThrough(this.#withoutUpdates()), writable })
    // An agent that closed its output, or broke it, cannot be talked to any more.
    void this.#connection.closed.then(() => child.end())
    void child.ended.then(ended => this.#finish(ended))
  }

  /**
   * Updates are read before the SDK sees them: it refuses those of a kind newer than itself, and hands the others on
   * out of order with the replies around them.
   */
  #withoutUpdates(): TransformStream<AnyMessage, AnyMessage> {
    return new TransformStream({
      transform: (message, rest) => {
        if (!('method' in message) || message.method !== methods.client.session.update) {
          rest.enqueue(message)
          return
        }
        const { data } = sessionNotification.safeParse(message.params)
        if (data?.update && (data.sessionId === this.conversation || !this.#isReady)) this.#take(data.update)
      }
    })
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

  async prompt(text: string): Promise<void> {
    await this.#turn
    if (this.#connection.signal.aborted) return
    this.#turns.begin()
    this.#turn = this.#run(text).then(end => {
      this.#closeQuestions()
      this.#turns.end(end)
    })
  }

  answer(ask: string, choice: string): boolean {
    const open = this.#open.get(ask)
    const chosen = open?.asked.choices.find(({ id }) => id === choice)
    if (!open || !chosen) return false
    this.#open.delete(ask)
    if (chosen.kind.startsWith('reject')) this.#turns.deny(open.asked.step.call)
    open.settle(choice)
    return true
  }

  async setMode(wish: string): Promise<boolean> {
    const id = this.#modes && findMode(this.#modes.modes, wish)
    return id !== undefined && (await this.#switchTo(id))
  }

  async cancel(): Promise<void> {
    this.#closeQuestions()
    if (this.#connection.signal.aborted) return
    await this.#connection.agent.notify(methods.agent.session.cancel, { sessionId: this.conversation }).catch(() => {})
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    this.#closeQuestions()
    await this.#child.end()
    await this.#turn
  }

  async #openSession({ directory, resume, mode }: StartAgent): Promise<void> {
    const { agent } = this.#connection
    const hello = initialized.parse(
      await agent.request(methods.agent.initialize, {
        protocolVersion: PROTOCOL_VERSION,
        clientInfo: { name: 'afield', version: version() },
        clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
      })
    )
    if (hello.protocolVersion !== PROTOCOL_VERSION) {
      throw new CannotStart(
        `${this.#program.title} speaks version ${hello.protocolVersion} of ACP; this Afield speaks version ${PROTOCOL_VERSION}.`
      )
    }
    this.version = hello.agentInfo?.version
    const opened = openedSession.parse(await this.#openOrResume(directory, resume, hello))
    this.conversation = opened.sessionId ?? resume ?? ''
    this.#isReady = true
    await this.#settleMode(modesOf(opened), mode)
  }

  #openOrResume(directory: string, resume: string | undefined, { agentCapabilities }: Initialized): Promise<unknown> {
    const { agent } = this.#connection
    const at = { cwd: directory, mcpServers: [] }
    if (resume === undefined) return agent.request(methods.agent.session.new, at)
    const known = { ...at, sessionId: resume }
    if (agentCapabilities?.sessionCapabilities?.resume) return agent.request(methods.agent.session.resume, known)
    if (agentCapabilities?.loadSession) return agent.request(methods.agent.session.load, known)
    throw new CannotStart(`${this.#program.title} cannot go on with an earlier conversation.`)
  }

  async #settleMode(modes: { modes: Modes; option: string | undefined } | undefined, wish: string | undefined): Promise<void> {
    if (!modes) return
    this.#modes = modes
    const id = chooseMode(modes.modes, wish)
    if (id === undefined || !(await this.#switchTo(id))) {
      this.#emit({ type: 'notice', text: `${this.#program.title} has no mode in which it asks; it decides by itself.` })
    }
    this.#emit({ type: 'modes', modes: this.#modes.modes })
  }

  /** Set even when it is said to be the current one: an agent may begin in another than it tells. */
  async #switchTo(id: string): Promise<boolean> {
    const { agent } = this.#connection
    const sessionId = this.conversation
    const option = this.#modes?.option
    try {
      if (option === undefined) await agent.request(methods.agent.session.setMode, { sessionId, modeId: id })
      else await agent.request(methods.agent.session.setConfigOption, { sessionId, configId: option, value: id })
    } catch {
      return false
    }
    this.#noteMode(id)
    return true
  }

  #noteMode(id: string): void {
    if (!this.#modes || this.#modes.modes.current === id) return
    this.#modes = { ...this.#modes, modes: { ...this.#modes.modes, current: id } }
    this.#emit({ type: 'modes', modes: this.#modes.modes })
  }

  #take(update: Update): void {
    if (update.sessionUpdate === 'current_mode_update') this.#noteMode(update.currentModeId)
    if (update.sessionUpdate === 'config_option_update') {
      const current = modesOf({ configOptions: update.configOptions })?.modes.current
      if (current !== undefined) this.#noteMode(current)
    }
    // Before the session is open an agent that loads one repeats its history, which was told once already.
    if (this.#isReady || update.sessionUpdate === 'available_commands_update') this.#turns.take(update)
  }

  async #run(text: string): Promise<TurnEnd> {
    try {
      const reply = await this.#connection.agent.request(methods.agent.session.prompt, {
        sessionId: this.conversation,
        prompt: [{ type: 'text', text }]
      })
      return endOfTurn(promptEnded.parse(reply).stopReason)
    } catch (error) {
      if (!this.#connection.signal.aborted) return { reason: 'failed', error: explain(error) }
      const ended = await this.#child.ended
      return this.#isStopping ? { reason: 'cancelled' } : { reason: 'failed', error: `The agent ended by itself (${ended}).` }
    }
  }

  #ask(asked: PermissionAsk, signal: AbortSignal): Promise<string | undefined> {
    return new Promise(resolve => {
      this.#open.set(asked.ask, { asked, settle: resolve })
      signal.addEventListener('abort', () => this.#close(asked.ask), { once: true })
    })
  }

  #close(ask: string): void {
    const open = this.#open.get(ask)
    if (!open) return
    this.#open.delete(ask)
    open.settle(undefined)
    this.#emit({ type: 'permission-closed', ask })
  }

  #closeQuestions(): void {
    for (const ask of [...this.#open.keys()]) this.#close(ask)
  }

  #emit(event: AgentEvent): void {
    // Growing text is told again with the next chunk, so a slow reader need not hear of every one.
    if (event.type === 'text-grew' && this.events.length > slowReader) return
    this.events.offer(event)
  }

  async #finish(ended: string): Promise<void> {
    await this.#turn
    this.#closeQuestions()
    if (this.#isStopping) this.events.close()
    else this.events.fail(new AgentDied(ended, this.#child.lastLines()))
  }

  async #whyNot(error: unknown): Promise<CannotStart> {
    if (this.#connection.signal.aborted) {
      const ended = await this.#child.ended
      return this.#refusal(`${this.#program.title} ended before it was ready (${ended}).`)
    }
    if (error instanceof RequestError && error.code === signInFirst) {
      return this.#refusal(`${this.#program.title} wants you to sign in first: run it once by itself in this terminal.`)
    }
    // A program that repeats what it reads, such as cat, hands back our own refusal of our question.
    if ((error instanceof RequestError && error.code === unknownMethod) || error instanceof ZodError) {
      return this.#refusal(`${this.#program.title} does not speak ACP on its standard input and output.`)
    }
    if (error instanceof Error && error.name === 'DeadlineExceeded') {
      return this.#refusal(
        `${this.#program.title} did not answer within ${openingMs / 1000} s. Does this command speak ACP on its standard input and output?`
      )
    }
    return this.#refusal(`${this.#program.title} did not start: ${explain(error)}`)
  }

  #refusal(sentence: string): CannotStart {
    const last = this.#child.lastLines()
    return new CannotStart(last === '' ? sentence : `${sentence}\nIts last lines:\n${last.replace(/^/gm, '  ')}`)
  }
}

const signInFirst = -32000
const unknownMethod = -32601

function endOfTurn(stopReason: string): TurnEnd {
  switch (stopReason) {
    case 'cancelled':
      return { reason: 'cancelled' }
    case 'refusal':
      return { reason: 'failed', error: 'The agent refused to go on.' }
    case 'max_tokens':
      return { reason: 'failed', error: 'The answer became longer than the model may write.' }
    case 'max_turn_requests':
      return { reason: 'failed', error: 'The turn needed more requests than the agent allows itself.' }
    default:
      return { reason: 'done' }
  }
}

/** "Internal error" says nothing; agents put what happened into the data beside it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const data: unknown = 'data' in error ? error.data : undefined
  if (typeof data === 'string' && data !== '') return data
  if (typeof data === 'object' && data !== null) {
    for (const field of ['details', 'message', 'error']) {
      const text: unknown = Reflect.get(data, field)
      if (typeof text === 'string' && text !== '') return text
    }
  }
  return error.message
}
