import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { pause } from '../../../async/pause.ts'
import type { Console } from '../../terminal/console.ts'
import type { AgentEvent, TurnEnd } from '../agent.ts'
import { openPty, type Pty } from '../pty.ts'
import { type Hook, type Hooks, openHooks } from './hooks.ts'
import { modesAt } from './modes.ts'
import { createQuestions, type Questions } from './questions.ts'
import type { Row } from './rows.ts'
import { planOf, stepOf } from './steps.ts'
import { createTelling, type Telling } from './telling.ts'
import { configFolder, openTranscript, sizeOf, type Transcript, transcriptFile } from './transcript.ts'
import { createTyping, type Typing } from './typing.ts'

export interface TerminalClaudeOptions {
  home: string
  /** The program, as the person installed it. */
  claude: string
  directory: string
  env: Readonly<Record<string, string>>
  console: Console
  /** What its own screen shall say first. */
  announcement: string
  /** Known beforehand for a new conversation; an old one is gone on with. */
  conversation: { id: string; isOld: boolean }
  mode: string
  prompt?: string | undefined
  emit(event: AgentEvent): void
}

/** Claude Code's own screen in the person's terminal, watched through its hooks and its transcript. */
export interface TerminalClaude {
  readonly conversation: string
  readonly mode: string
  /** Whether anything was said in the conversation: without it there is nothing to go on with. */
  readonly hasHistory: boolean
  /** Types a message for the person at the phone. False when it was not taken, for example because a dialog is open. */
  type(text: string): Promise<boolean>
  answer(ask: string, choice: string): boolean
  /** Esc: what was said so far is kept. */
  interrupt(): Promise<void>
  /** Interrupts, ends it, and tells what it still had to tell. */
  end(): Promise<void>
  /**
   * Resolves when the program has ended, by itself or not: `left` by its person, `died` in the words given, or `refused` to
   * start, before anybody had pressed a key.
   */
  readonly ended: Promise<TerminalEnd>
}

export type TerminalEnd = { type: 'left' } | { type: 'died' | 'refused'; how: string }

export async function startTerminalClaude(options: TerminalClaudeOptions): Promise<TerminalClaude> {
  const claude = new OnTerminal(options)
  await claude.open()
  return claude
}

const interruptWithinMs = 3_000
// A first start may unpack itself.
const readyWithinMs = 15_000
// A row of the transcript comes some time after the hook that belongs to it; on a busy computer, seconds.
const transcriptLagMs = 5_000
// A person waits for this one, and it may be asked before it is written down.
const questionLagMs = 1_500
const lookEveryMs = 50

class OnTerminal implements TerminalClaude {
  conversation: string
  mode: string
  hasHistory: boolean
  ended: Promise<TerminalEnd> = Promise.resolve({ type: 'left' })
  readonly #options: TerminalClaudeOptions
  readonly #transcript: Transcript
  readonly #telling: Telling
  readonly #questions: Questions
  readonly #typing: Typing
  /** The last use of a tool: a question about it does not say which use it is. */
  #lastUse: Hook | undefined
  #isBusy = false
  #lastText: string | undefined
  #ending: Promise<void> = Promise.resolve()
  #isInterrupted = () => {}
  #hooks: Hooks | undefined
  #pty: Pty | undefined
  #questionsAsked = 0
  #wasHeard = false
  #hasKeys = false

  constructor(options: TerminalClaudeOptions) {
    const { conversation, mode, emit } = options
    this.#options = options
    this.conversation = conversation.id
    this.hasHistory = conversation.isOld
    this.mode = mode
    this.#questions = createQuestions(emit)
    this.#typing = createTyping(keys => this.#pty?.write(keys))
    this.#telling = createTelling({ emit, isOurs: text => this.#typing.isOurs(text) })
    this.#transcript = openTranscript({
      since: Date.now(),
      onRow: row => this.#take(row),
      onRead: upTo => emit({ type: 'told', upTo })
    })
  }

  async open(): Promise<void> {
    const { home, claude, directory, env, console, announcement, conversation, mode, prompt } = this.#options
    const file = transcriptFile(env, realpathSync(directory), conversation.id)
    this.#transcript.follow(file, sizeOf(file))
    this.#hooks = await openHooks({ home, announcement, onHook: (hook, gone) => this.#hear(hook, gone) })
    const which = conversation.isOld ? ['--resume', conversation.id] : ['--session-id', conversation.id]
    const args = ['--settings', this.#hooks.settings, ...which, '--permission-mode', mode, ...(prompt ? [prompt] : [])]
    const pty = this.#openPty({ command: claude, args, directory, env }, console)
    this.#pty = pty
    const giveKeysBack = console.takeKeys(keys => {
      this.#hasKeys = true
      pty.write(keys.toString())
    })
    const stopResizing = console.onResize(() => pty.resize(console))
    this.ended = pty.ended.then(how => {
      giveKeysBack()
      stopResizing()
      this.#finish()
      return this.#endOf(how)
    })
  }

  #openPty(program: Parameters<typeof openPty>[0], console: Console): Pty {
    try {
      return openPty(program, console)
    } catch (error) {
      this.#finish()
      throw error
    }
  }

  async type(text: string): Promise<boolean> {
    const pty = this.#pty
    if (!pty) return false
    await Promise.race([pty.isReady, this.ended, pause(readyWithinMs)])
    if (this.#questions.areOpen || this.#isAtDialog()) return false
    return this.#typing.type(text)
  }

  answer(ask: string, choice: string): boolean {
    return this.#questions.answer(ask, choice)
  }

  async interrupt(): Promise<void> {
    if (!this.#isBusy) return
    const { promise: interrupted, resolve } = Promise.withResolvers<void>()
    this.#isInterrupted = resolve
    this.#pty?.write('\x1b')
    await Promise.race([interrupted, this.ended, pause(interruptWithinMs)])
  }

  async end(): Promise<void> {
    // A signal alone would lose the half of an answer that is on screen already.
    await this.interrupt()
    await this.#pty?.end()
    await this.ended
  }

  /** Also one that no hook tells of, for example a list to choose from: what is typed would go into it. */
  #isAtDialog(): boolean {
    const file = join(configFolder(this.#options.env), 'sessions', `${this.#pty?.pid}.json`)
    try {
      return /"status"\s*:\s*"waiting"/.test(readFileSync(file, 'utf8'))
    } catch {
      return false
    }
  }

  #endOf({ code, signal }: { code: number; signal: number }): TerminalEnd {
    if (code === 0 && signal === 0) return { type: 'left' }
    const how = signal === 0 ? `exit code ${code}` : `signal ${signal}`
    return { type: this.#wasHeard || this.#hasKeys || signal !== 0 ? 'died' : 'refused', how }
  }

  #finish(): void {
    this.#hooks?.close()
    this.#questions.closeAll()
    this.#transcript.read()
    this.#transcript.close()
    this.#endTurn({ reason: 'cancelled' })
  }

  async #hear(hook: Hook, gone: AbortSignal): Promise<object> {
    this.#wasHeard = true
    this.#noticeConversation(hook)
    switch (hook.hook_event_name) {
      case 'UserPromptSubmit':
        await this.#ending
        this.#lastText = undefined
        this.#isBusy = true
        this.#typing.taken(hook.prompt ?? '')
        break
      case 'PreToolUse':
        this.#lastUse = hook
        break
      case 'PermissionRequest':
        return this.#ask(hook, gone)
      case 'PostToolUse':
      case 'PostToolUseFailure':
        if (hook.tool_use_id !== undefined) this.#questions.close(hook.tool_use_id, true)
        break
      case 'Stop':
        this.#ending = this.#endOnceTold(hook, { reason: 'done' })
        break
      case 'StopFailure':
        this.#ending = this.#endOnceTold(hook, { reason: 'failed', error: hook.error ?? 'Claude Code could not go on.' })
        break
    }
    this.#noticeMode(hook.permission_mode)
    return {}
  }

  /** Also when the person goes over to another one with a command of the terminal. */
  #noticeConversation({ session_id: id, transcript_path: file }: Hook): void {
    if (file !== undefined) this.#transcript.follow(file)
    if (id === undefined || id === this.conversation) return
    this.conversation = id
    this.#options.emit({ type: 'conversation', id })
  }

  #take(row: Row): void {
    switch (row.type) {
      case 'mode':
        this.#noticeMode(row.mode)
        return
      case 'interrupted':
        this.#questions.closeAll()
        this.#endTurn({ reason: 'cancelled' })
        this.#isInterrupted()
        return
      case 'block': {
        const { by, block } = row
        this.hasHistory = true
        if (block.type === 'text' && by === 'assistant') this.#lastText = block.text
        if (block.type === 'text' && by === 'user') this.#isBusy = true
        if (block.type === 'tool_result') this.#questions.close(block.tool_use_id, block.is_error !== true)
        this.#telling.take(row)
        return
      }
    }
  }

  /** The step is on the phone with the question, after all that was said before it. */
  async #ask(hook: Hook, gone: AbortSignal): Promise<object> {
    const { tool_name: name = 'Tool', tool_input: input = {}, permission_suggestions: suggestions } = hook
    const isSame = this.#lastUse?.tool_name === name && JSON.stringify(this.#lastUse.tool_input) === JSON.stringify(input)
    const call = isSame ? this.#lastUse?.tool_use_id : undefined
    if (call !== undefined && !planOf(name, input)) {
      await this.#readUntil(() => this.#telling.step(call) !== undefined, questionLagMs)
      this.#telling.begin(call, name, input)
    }
    const ask = call ?? `question-${++this.#questionsAsked}`
    if (gone.aborted) return {}
    return this.#questions.ask(ask, this.#telling.step(ask) ?? stepOf(ask, name, input), suggestions, gone)
  }

  /** The turn is over when its last words were told. */
  async #endOnceTold({ last_assistant_message: last }: Hook, end: TurnEnd): Promise<void> {
    await this.#readUntil(() => !last?.trim() || this.#lastText?.trim() === last.trim(), transcriptLagMs)
    this.#endTurn(end)
  }

  async #readUntil(isSo: () => boolean, withinMs: number): Promise<void> {
    const latest = performance.now() + withinMs
    this.#transcript.read()
    while (!isSo() && performance.now() < latest) {
      await pause(lookEveryMs)
      this.#transcript.read()
    }
  }

  #endTurn(end: TurnEnd): void {
    if (!this.#isBusy) return
    this.#isBusy = false
    this.#telling.cutSteps()
    this.#options.emit({ type: 'turn-ended', ...end })
  }

  #noticeMode(mode: string | undefined): void {
    if (mode === undefined || mode === this.mode) return
    this.mode = mode
    this.#options.emit({ type: 'modes', modes: modesAt(mode) })
  }
}
