import { randomUUID } from 'node:crypto'
import { BoundedQueue } from '../../../async/queue.ts'
import {
  type Agent,
  AgentDied,
  type AgentEvent,
  type AgentScreen,
  type Answers,
  type Handover,
  type HistoryPosition,
  type Image,
  type StartAgent
} from '../agent.ts'
import { createHeadlessProbe, type HeadlessProbe } from './headless-probe.ts'
import { modesAt } from './modes.ts'
import type { TerminalEnd } from './terminal/screen.ts'
import { startTerminalClaude, type TerminalClaude } from './terminal/terminal.ts'
import { type Missing, withoutIt } from './terminal/turn.ts'
import { endOfTranscript, hasTranscript } from './transcript/transcript.ts'

/**
 * One conversation with Claude Code that is at the terminal or controlled by the phone, and switches as
 * people want. At the terminal it has its own screen, and the phone follows, decides and writes; with the
 * phone it runs without one.
 */
export async function startTwoModes(options: TwoModesOptions): Promise<Agent> {
  const sides = new TwoSides(options)
  await sides.open()
  return new TwoModes(sides, options)
}

class TwoModes implements Agent {
  readonly version = undefined
  readonly events: BoundedQueue<AgentEvent>
  readonly handover: Handover
  readonly #sides: TwoSides
  readonly #how: TwoModesOptions['how']

  constructor(sides: TwoSides, { how }: TwoModesOptions) {
    this.#sides = sides
    this.#how = how
    this.events = sides.events
    this.handover = sides
  }

  get conversation(): string {
    return this.#sides.conversation
  }

  /** At its own terminal it gets files instead. */
  get takesImages(): boolean {
    return this.#sides.remote?.takesImages ?? false
  }

  async prompt(text: string, images?: readonly Image[]): Promise<boolean> {
    await this.#sides.settled
    const { terminal } = this.#sides
    if (terminal) {
      if (await terminal.type(text)) return true
      await this.#sides.toPhone()
      if (terminal.hasWrittenDown(text)) {
        this.#sides.emit({
          type: 'notice',
          text: 'Claude Code received this while switching to your phone and was interrupted. Send it again to continue.'
        })
        return true
      }
    }
    // If it stays at its terminal it was restarted there, without the open dialog.
    return (await this.#sides.remote?.prompt(text, images)) ?? (await this.#sides.terminal?.type(text)) ?? false
  }

  writesAt(): HistoryPosition | undefined {
    return endOfTranscript(this.#how.env, this.#how.directory, this.conversation)
  }

  answer(ask: string, choice: string, reason?: string): boolean {
    const { terminal, remote } = this.#sides
    return terminal?.answer(ask, choice, reason) ?? remote?.answer(ask, choice) ?? false
  }

  get hearsReasons(): boolean {
    return this.#sides.terminal !== undefined
  }

  /** At its own terminal it accepts typed text as it comes. */
  get steer(): Agent['steer'] {
    const { remote } = this.#sides
    return remote?.steer?.bind(remote)
  }

  async setMode(mode: string): Promise<boolean> {
    await this.#sides.settled
    const { remote, terminal, pending } = this.#sides
    if (remote) return remote.setMode(mode)
    // At the terminal only its keys change it, and which one depends on the person and the version.
    pending.note({ mode })
    return mode === terminal?.mode
  }

  async setModel(model: string): Promise<boolean | 'later'> {
    await this.#sides.settled
    const { remote, pending } = this.#sides
    if (remote) return (await remote.setModel?.(model)) ?? false
    pending.note({ model })
    return 'later'
  }

  async setEffort(effort: string): Promise<boolean | 'later'> {
    await this.#sides.settled
    const { remote, pending } = this.#sides
    if (remote) return (await remote.setEffort?.(effort)) ?? false
    pending.note({ effort })
    return 'later'
  }

  /** At its terminal it accepts a goal even while it works. */
  async changeGoal(objective: string | undefined): Promise<string | undefined> {
    await this.#sides.settled
    const { remote, terminal } = this.#sides
    if (remote) return remote.changeGoal?.(objective)
    if (!(await terminal?.changeGoal(objective))) {
      throw new Error(
        'This cannot be typed at its terminal now: a dialog is open there, or the text is too long. Take over on your phone first.'
      )
    }
    return undefined
  }

  answerQuestion(ask: string, answers: Answers | undefined): boolean {
    const { terminal, remote } = this.#sides
    return terminal?.answerQuestion(ask, answers) ?? remote?.answerQuestion?.(ask, answers) ?? false
  }

  async cancel(): Promise<void> {
    const { terminal, remote } = this.#sides
    await (terminal?.interrupt() ?? remote?.cancel())
  }

  stop(): Promise<void> {
    return this.#sides.close()
  }
}

interface TwoModesOptions {
  home: string
  claude: string
  screen: AgentScreen
  how: StartAgent
  /** What both sides need from the start. */
  warning?: string | undefined
  /** Claude Code behind its ACP adapter, for when the phone is in control. */
  startRemote(how: StartAgent): Promise<Agent>
}

/** The terminal and the phone: a conversation is at one of them, and switches to the other. */
class TwoSides implements Handover {
  readonly events = new BoundedQueue<AgentEvent>(Number.POSITIVE_INFINITY)
  readonly pending = createPendingOptions(event => this.emit(event))
  conversation: string
  /** At most one of the two exists. */
  terminal: TerminalClaude | undefined
  remote: Agent | undefined
  readonly #options: TwoModesOptions
  readonly #missed = new Set<Missing>()
  readonly #probe: HeadlessProbe
  #hasHistory: boolean
  #mode: string
  #listening: Promise<void> = Promise.resolve()
  /** One switch at a time. */
  #changing: Promise<void> = Promise.resolve()
  #isStopping = false

  constructor(options: TwoModesOptions) {
    const { resume, mode, env, directory } = options.how
    this.#options = options
    this.#probe = createHeadlessProbe({ claude: options.claude, directory, env })
    this.conversation = resume ?? randomUUID()
    this.#hasHistory = resume !== undefined && hasTranscript(env, resume)
    this.#mode = mode ?? 'default'
  }

  get by(): 'terminal' | 'phone' {
    return this.terminal ? 'terminal' : 'phone'
  }

  /** Resolves when no switch is in progress. */
  get settled(): Promise<void> {
    return this.#changing
  }

  async open(): Promise<void> {
    await this.#openTerminal(this.#options.screen.prompt)
    this.emit({ type: 'modes', modes: modesAt(this.#mode) })
    const { warning } = this.#options
    if (warning !== undefined) this.emit({ type: 'notice', text: warning })
  }

  async close(): Promise<void> {
    this.#isStopping = true
    await this.#changing
    await this.#closeTerminal()
    await this.#closeRemote()
    this.events.close()
  }

  emit(event: AgentEvent): void {
    this.events.offer(event)
  }

  toPhone(): Promise<void> {
    return this.#change(async () => {
      if (!this.terminal) return
      await this.#closeTerminal()
      try {
        await this.#openRemote()
      } catch (error) {
        this.emit({ type: 'notice', text: `Claude Code could not switch to the phone and stays at its terminal. ${sentenceOf(error)}` })
        await this.#openTerminal()
      }
    })
  }

  toTerminal(): Promise<void> {
    return this.#change(async () => {
      if (this.terminal) return
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
    this.emit({ type: 'controlled', by: 'terminal' })
    const terminal = await startTerminalClaude({
      home,
      claude,
      console: screen.console,
      announcement: screen.announcement,
      directory: how.directory,
      env: how.env,
      conversation: { id: this.conversation, isOld: this.#hasHistory },
      mode: this.#mode,
      prompt,
      probe: this.#probe,
      emit: event => this.#pass(event),
      onMissing: missing => this.#fallBack(missing)
    })
    this.terminal = terminal
    // After a switch from the phone, it is no longer this one.
    void terminal.ended.then(end => {
      if (this.terminal !== terminal) return
      this.#noteTerminal(terminal)
      this.#follow(end, prompt)
    })
  }

  #follow(end: TerminalEnd, prompt: string | undefined): void {
    switch (end.type) {
      case 'left':
        // Its user left it: that ends the session.
        this.events.close()
        return
      case 'died':
        this.events.fail(new AgentDied(end.how, ''))
        return
      case 'refused':
        // An unknown version may not accept our input; its adapter knows it better.
        void this.#change(async () => {
          await this.#openRemote()
          const sentence = `Claude Code did not start at its terminal (${end.how}), so it continues on your phone.`
          this.emit({ type: 'notice', text: `${sentence} Afield may not support its version yet.` })
          if (!prompt) return
          this.emit({ type: 'prompted', text: prompt, isOurs: false })
          await this.remote?.prompt(prompt)
        })
    }
  }

  /** Once: a person who reopens the screen wants it as it is. */
  #fallBack(missing: Missing): void {
    if (this.#missed.has(missing)) return
    this.#missed.add(missing)
    this.emit({ type: 'notice', text: withoutIt[missing] })
    void this.toPhone()
  }

  async #closeTerminal(): Promise<void> {
    const terminal = this.terminal
    if (!terminal) return
    this.terminal = undefined
    await terminal.end()
    this.#noteTerminal(terminal)
  }

  #noteTerminal(terminal: TerminalClaude): void {
    this.terminal = undefined
    this.conversation = terminal.conversation
    this.#hasHistory = terminal.hasHistory
    this.#mode = terminal.mode
    this.#options.screen.onDrawing(false)
  }

  async #openRemote(): Promise<void> {
    const { how, startRemote } = this.#options
    this.emit({ type: 'controlled', by: 'phone' })
    const wish = this.pending.take()
    const resume = this.#hasHistory ? this.conversation : undefined
    const remote = await startRemote({ ...how, isUnsent: false, mode: wish.mode ?? this.#mode, resume })
    this.remote = remote
    if (remote.conversation !== this.conversation) {
      this.conversation = remote.conversation
      this.emit({ type: 'conversation', id: remote.conversation })
    }
    this.#listening = this.#listen(remote)
    await this.pending.fulfil(wish, remote)
  }

  async #closeRemote(): Promise<void> {
    const remote = this.remote
    if (!remote) return
    this.remote = undefined
    await remote.cancel()
    await remote.stop()
    await this.#listening
  }

  async #listen(remote: Agent): Promise<void> {
    try {
      for await (const event of remote.events) this.#pass(event)
    } catch (error) {
      if (this.remote === remote) this.events.fail(error)
    }
  }

  #pass(event: AgentEvent): void {
    if (event.type === 'modes') {
      this.#mode = event.modes.current
      this.pending.forgetMode()
    }
    if (event.type === 'text' || event.type === 'prompted') this.#hasHistory = true
    this.emit(event)
  }
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** By the agent's own ids. */
interface Wish {
  mode?: string
  model?: string
  effort?: string
}

/**
 * What the phone chose while Claude Code is at its terminal, where only its keys choose: it is applied once
 * the phone is in control.
 */
interface PendingOptions {
  note(wish: Wish): void
  /** Another mode was chosen at the terminal since. */
  forgetMode(): void
  /** All of it, once. */
  take(): Wish
  /** The model and the reasoning level; the mode is passed to the agent at its start. */
  fulfil(wish: Wish, agent: Agent): Promise<void>
}

function createPendingOptions(emit: (event: AgentEvent) => void): PendingOptions {
  let wished: Wish = {}
  return {
    note(wish) {
      wished = { ...wished, ...wish }
    },
    forgetMode() {
      delete wished.mode
    },
    take() {
      const wish = wished
      wished = {}
      return wish
    },
    async fulfil({ model, effort }, agent) {
      if (model !== undefined && (await agent.setModel?.(model)) !== true) emit(notThere(`model ${model}`))
      if (effort !== undefined && (await agent.setEffort?.(effort)) !== true) emit(notThere(`effort level ${effort}`))
    }
  }
}

function notThere(what: string): AgentEvent {
  return { type: 'notice', text: `The agent has no ${what}; nothing was changed.` }
}
