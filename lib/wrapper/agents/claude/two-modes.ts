import { randomUUID } from 'node:crypto'
import { BoundedQueue } from '../../../async/queue.ts'
import {
  type Agent,
  AgentDied,
  type AgentEvent,
  type AgentScreen,
  type Answers,
  type Handover,
  type Image,
  type StartAgent,
  type ToldUpTo
} from '../agent.ts'
import { type Missing, withoutIt } from './abilities.ts'
import { modesAt } from './modes.ts'
import type { TerminalEnd } from './own-screen.ts'
import { startTerminalClaude, type TerminalClaude } from './terminal-claude.ts'
import { endOfTranscript, hasTranscript } from './transcript.ts'

export interface TwoModesOptions {
  home: string
  claude: string
  screen: AgentScreen
  how: StartAgent
  /** What both sides shall know from the start. */
  warning?: string | undefined
  /** Claude Code behind its ACP adapter, for when the phone drives. */
  startRemote(how: StartAgent): Promise<Agent>
}

/**
 * One conversation with Claude Code that is at the terminal or with the phone, and changes over as people want. At the
 * terminal it is its own screen, and the phone reads along, decides and writes; with the phone it runs without one.
 */
export async function startTwoModes(options: TwoModesOptions): Promise<Agent> {
  const agent = new TwoModes(options)
  await agent.open()
  return agent
}

class TwoModes implements Agent, Handover {
  readonly version = undefined
  readonly events = new BoundedQueue<AgentEvent>(Number.POSITIVE_INFINITY)
  readonly handover: Handover = this
  readonly #options: TwoModesOptions
  #conversation: string
  #hasHistory: boolean
  #mode: string
  /** What the phone wants once it drives. */
  #wish: { mode?: string; model?: string; effort?: string } = {}
  readonly #missed = new Set<Missing>()
  #terminal: TerminalClaude | undefined
  #remote: Agent | undefined
  #listening: Promise<void> = Promise.resolve()
  /** One change at a time. */
  #changing: Promise<void> = Promise.resolve()
  #isStopping = false

  constructor(options: TwoModesOptions) {
    const { resume, mode, env } = options.how
    this.#options = options
    this.#conversation = resume ?? randomUUID()
    this.#hasHistory = resume !== undefined && hasTranscript(env, resume)
    this.#mode = mode ?? 'default'
  }

  get conversation(): string {
    return this.#conversation
  }

  get by(): 'terminal' | 'phone' {
    return this.#terminal ? 'terminal' : 'phone'
  }

  async open(): Promise<void> {
    await this.#openTerminal(this.#options.screen.prompt)
    this.#emit({ type: 'modes', modes: modesAt(this.#mode) })
    const { warning } = this.#options
    if (warning !== undefined) this.#emit({ type: 'notice', text: warning })
  }

  /** At its own terminal it is given files instead. */
  get takesImages(): boolean {
    return this.#remote?.takesImages ?? false
  }

  async prompt(text: string, images?: readonly Image[]): Promise<boolean> {
    await this.#changing
    const terminal = this.#terminal
    if (terminal) {
      if (await terminal.type(text)) return true
      await this.toPhone()
      if (terminal.hasWrittenDown(text)) {
        this.#emit({
          type: 'notice',
          text: 'Claude Code took this just as it changed over to your phone, and was cut off. Say it again to go on.'
        })
        return true
      }
    }
    // Where it stays at its terminal it has begun anew there, without the dialog that was open.
    return (await this.#remote?.prompt(text, images)) ?? (await this.#terminal?.type(text)) ?? false
  }

  writesAt(): ToldUpTo | undefined {
    return endOfTranscript(this.#options.how.env, this.#options.how.directory, this.#conversation)
  }

  answer(ask: string, choice: string, reason?: string): boolean {
    return this.#terminal?.answer(ask, choice, reason) ?? this.#remote?.answer(ask, choice) ?? false
  }

  get hearsReasons(): boolean {
    return this.#terminal !== undefined
  }

  /** At its own terminal it takes what is typed there as it comes. */
  get steer(): Agent['steer'] {
    return this.#remote?.steer?.bind(this.#remote)
  }

  async setMode(mode: string): Promise<boolean> {
    await this.#changing
    if (this.#remote) return this.#remote.setMode(mode)
    // At the terminal only the keys there change it, and which of them does is up to the person and the version.
    this.#wish.mode = mode
    return mode === this.#terminal?.mode
  }

  async setModel(model: string): Promise<boolean | 'later'> {
    await this.#changing
    if (this.#remote) return (await this.#remote.setModel?.(model)) ?? false
    this.#wish.model = model
    return 'later'
  }

  async setEffort(effort: string): Promise<boolean | 'later'> {
    await this.#changing
    if (this.#remote) return (await this.#remote.setEffort?.(effort)) ?? false
    this.#wish.effort = effort
    return 'later'
  }

  answerQuestion(ask: string, answers: Answers | undefined): boolean {
    return this.#remote?.answerQuestion?.(ask, answers) ?? false
  }

  async cancel(): Promise<void> {
    await (this.#terminal?.interrupt() ?? this.#remote?.cancel())
  }

  async stop(): Promise<void> {
    this.#isStopping = true
    await this.#changing
    await this.#closeTerminal()
    await this.#closeRemote()
    this.events.close()
  }

  toPhone(): Promise<void> {
    return this.#change(async () => {
      if (!this.#terminal) return
      await this.#closeTerminal()
      try {
        await this.#openRemote()
      } catch (error) {
        this.#emit({ type: 'notice', text: `It could not go over to the phone and stays at its terminal. ${sentenceOf(error)}` })
        await this.#openTerminal()
      }
    })
  }

  toTerminal(): Promise<void> {
    return this.#change(async () => {
      if (this.#terminal) return
      await this.#closeRemote()
      await this.#openTerminal()
    })
  }

  #change(work: () => Promise<void>): Promise<void> {
    const changed = this.#changing.then(() => (this.#isStopping ? undefined : work()))
    this.#changing = changed.catch(error => this.events.fail(new AgentDied(sentenceOf(error), '')))
    return this.#changing
  }

  async #openTerminal(prompt?: string): Promise<void> {
    const { home, claude, screen, how } = this.#options
    screen.onDrawing(true)
    this.#emit({ type: 'controlled', by: 'terminal' })
    const terminal = await startTerminalClaude({
      home,
      claude,
      console: screen.console,
      announcement: screen.announcement,
      directory: how.directory,
      env: how.env,
      conversation: { id: this.#conversation, isOld: this.#hasHistory },
      mode: this.#mode,
      prompt,
      emit: event => this.#pass(event),
      onMissing: missing => this.#fallBack(missing)
    })
    this.#terminal = terminal
    // When it ends for the phone, it is not this one any more.
    void terminal.ended.then(end => {
      if (this.#terminal !== terminal) return
      this.#noteTerminal(terminal)
      this.#follow(end, prompt)
    })
  }

  #follow(end: TerminalEnd, prompt: string | undefined): void {
    switch (end.type) {
      case 'left':
        // Its person left it: that ends the session.
        this.events.close()
        return
      case 'died':
        this.events.fail(new AgentDied(end.how, ''))
        return
      case 'refused':
        // A version that we do not know may not take what we tell it; its adapter knows it better.
        void this.#change(async () => {
          await this.#openRemote()
          const sentence = `Claude Code did not start at its terminal (${end.how}), so your phone drives it.`
          this.#emit({ type: 'notice', text: `${sentence} Its version may be one that Afield does not know yet.` })
          if (!prompt) return
          this.#emit({ type: 'prompted', text: prompt, isOurs: false })
          await this.#remote?.prompt(prompt)
        })
    }
  }

  /** Once: who brings the screen back then wants it as it is. */
  #fallBack(missing: Missing): void {
    if (this.#missed.has(missing)) return
    this.#missed.add(missing)
    this.#emit({ type: 'notice', text: withoutIt[missing] })
    void this.toPhone()
  }

  async #closeTerminal(): Promise<void> {
    const terminal = this.#terminal
    if (!terminal) return
    this.#terminal = undefined
    await terminal.end()
    this.#noteTerminal(terminal)
  }

  #noteTerminal(terminal: TerminalClaude): void {
    this.#terminal = undefined
    this.#conversation = terminal.conversation
    this.#hasHistory = terminal.hasHistory
    this.#mode = terminal.mode
    this.#options.screen.onDrawing(false)
  }

  async #openRemote(): Promise<void> {
    const { how, startRemote } = this.#options
    this.#emit({ type: 'controlled', by: 'phone' })
    const { mode = this.#mode, model, effort } = this.#wish
    this.#wish = {}
    const remote = await startRemote({ ...how, isUntold: false, mode, resume: this.#hasHistory ? this.#conversation : undefined })
    this.#remote = remote
    if (remote.conversation !== this.#conversation) {
      this.#conversation = remote.conversation
      this.#emit({ type: 'conversation', id: remote.conversation })
    }
    this.#listening = this.#listen(remote)
    const isRefused = async (set: Promise<boolean | 'later'> | undefined) => (await set) !== true
    if (model !== undefined && (await isRefused(remote.setModel?.(model)))) this.#emit(notThere(`model ${model}`))
    if (effort !== undefined && (await isRefused(remote.setEffort?.(effort)))) this.#emit(notThere(`level of thought ${effort}`))
  }

  async #closeRemote(): Promise<void> {
    const remote = this.#remote
    if (!remote) return
    this.#remote = undefined
    await remote.cancel()
    await remote.stop()
    await this.#listening
  }

  async #listen(remote: Agent): Promise<void> {
    try {
      for await (const event of remote.events) this.#pass(event)
    } catch (error) {
      if (this.#remote === remote) this.events.fail(error)
    }
  }

  #pass(event: AgentEvent): void {
    if (event.type === 'modes') {
      this.#mode = event.modes.current
      delete this.#wish.mode
    }
    if (event.type === 'text' || event.type === 'prompted') this.#hasHistory = true
    this.#emit(event)
  }

  #emit(event: AgentEvent): void {
    this.events.offer(event)
  }
}

function notThere(what: string): AgentEvent {
  return { type: 'notice', text: `The agent has no ${what}; it goes on as it was.` }
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
