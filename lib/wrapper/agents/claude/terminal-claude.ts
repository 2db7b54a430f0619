import { realpathSync } from 'node:fs'
import { pause } from '../../../async/pause.ts'
import type { Console } from '../../terminal/console.ts'
import type { AgentEvent } from '../agent.ts'
import { type Abilities, createAbilities, type Missing } from './abilities.ts'
import { type Hook, type Hooks, openHooks } from './hooks.ts'
import { createLiveText, type LiveText } from './live-text.ts'
import { modesAt } from './modes.ts'
import { createOverwritten } from './overwritten.ts'
import { type OwnScreen, openOwnScreen, type TerminalEnd } from './own-screen.ts'
import { createQuestions, type Questions } from './questions.ts'
import type { Row } from './rows.ts'
import { planOf, stepOf } from './steps.ts'
import { createTelling, type Telling } from './telling.ts'
import { createTerminalTurn, type TerminalTurn } from './terminal-turn.ts'
import { createTitles } from './titles.ts'
import { createToolUses } from './tool-uses.ts'
import { openTranscript, sizeOf, type Transcript, transcriptFile } from './transcript.ts'
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
  /** Told after a turn in which something that we need was missing. */
  onMissing(missing: Missing): void
}

/** Claude Code's own screen in the person's terminal, watched through its hooks and its transcript. */
export interface TerminalClaude {
  readonly conversation: string
  readonly mode: string
  /** Whether anything was said in the conversation: without it there is nothing to go on with. */
  readonly hasHistory: boolean
  /** Types a message for the person at the phone. False when it was not taken, for example because a dialog is open. */
  type(text: string): Promise<boolean>
  /** Whether a message that seemed not to be taken was. */
  hasWrittenDown(text: string): boolean
  answer(ask: string, choice: string, reason?: string): boolean
  /** Esc: what was said so far is kept. */
  interrupt(): Promise<void>
  /** Interrupts, ends it, and tells what it still had to tell. */
  end(): Promise<void>
  /** Resolves when the program has ended, by itself or not. */
  readonly ended: Promise<TerminalEnd>
}

export async function startTerminalClaude(options: TerminalClaudeOptions): Promise<TerminalClaude> {
  const claude = new OnTerminal(options)
  await claude.open()
  return claude
}

const interruptWithinMs = 3_000
// A first start may unpack itself.
const readyWithinMs = 15_000
// A person waits for this one, and it may be asked before it is written down.
const questionLagMs = 1_500

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
  readonly #live: LiveText
  readonly #abilities: Abilities
  readonly #overwritten = createOverwritten()
  readonly #uses = createToolUses()
  readonly #turn: TerminalTurn
  readonly #nameIt: ReturnType<typeof createTitles>
  #hooks: Hooks | undefined
  #screen: OwnScreen | undefined
  #questionsAsked = 0

  constructor(options: TerminalClaudeOptions) {
    const { conversation, mode, emit, onMissing } = options
    this.#options = options
    this.conversation = conversation.id
    this.hasHistory = conversation.isOld
    this.mode = mode
    this.#questions = createQuestions(emit)
    this.#typing = createTyping(keys => this.#screen?.write(keys))
    this.#live = createLiveText(emit)
    this.#nameIt = createTitles(emit)
    this.#abilities = createAbilities(onMissing)
    this.#telling = createTelling({
      emit,
      isOurs: text => this.#typing.isOurs(text),
      blockOf: text => this.#live.blockOf(text),
      overwritten: this.#overwritten.read
    })
    this.#transcript = openTranscript({
      onRow: row => this.#take(row),
      onRead: upTo => {
        emit({ type: 'told', upTo })
        this.#turn.endCut()
      }
    })
    this.#turn = createTerminalTurn({
      emit,
      questions: this.#questions,
      uses: this.#uses,
      telling: this.#telling,
      abilities: this.#abilities,
      transcript: () => this.#transcript
    })
  }

  async open(): Promise<void> {
    const { home, claude, directory, env, console, announcement, conversation, mode, prompt } = this.#options
    const file = transcriptFile(env, realpathSync(directory), conversation.id)
    this.#transcript.follow(file, sizeOf(file))
    this.#hooks = await openHooks({ home, announcement, onHook: (hook, gone) => this.#hear(hook, gone) })
    const which = conversation.isOld ? ['--resume', conversation.id] : ['--session-id', conversation.id]
    const args = ['--settings', this.#hooks.settings, ...which, '--permission-mode', mode, ...(prompt ? [prompt] : [])]
    this.#screen = this.#open({ command: claude, args, directory, env }, console)
    this.ended = this.#screen.ended.then(end => {
      this.#finish()
      return end
    })
  }

  #open(program: Parameters<typeof openOwnScreen>[0], console: Console): OwnScreen {
    try {
      return openOwnScreen(program, console, () => this.#abilities.wasHeard)
    } catch (error) {
      this.#finish()
      throw error
    }
  }

  async type(text: string): Promise<boolean> {
    const screen = this.#screen
    if (!screen) return false
    await Promise.race([screen.isReady, this.ended, pause(readyWithinMs)])
    if (this.#questions.areOpen || screen.isAtDialog) return false
    return this.#typing.type(text)
  }

  hasWrittenDown(text: string): boolean {
    return this.#typing.hasWrittenDown(text)
  }

  answer(ask: string, choice: string, reason?: string): boolean {
    return this.#questions.answer(ask, choice, reason)
  }

  async interrupt(): Promise<void> {
    if (!this.#turn.isRunning) return
    const interrupted = this.#turn.whenCut()
    this.#screen?.write('\x1b')
    await Promise.race([interrupted, this.ended, pause(interruptWithinMs)])
  }

  async end(): Promise<void> {
    // A signal alone would lose the half of an answer that is on screen already.
    await this.interrupt()
    await this.#screen?.end()
    await this.ended
  }

  #finish(): void {
    this.#hooks?.close()
    this.#transcript.read()
    this.#transcript.close()
    this.#turn.end({ reason: 'cancelled' })
  }

  async #hear(hook: Hook, gone: AbortSignal): Promise<object> {
    this.#abilities.hear()
    this.#noticeConversation(hook)
    switch (hook.hook_event_name) {
      case 'UserPromptSubmit':
        await this.#turn.ending
        this.#turn.begin()
        this.#typing.taken(hook.prompt ?? '')
        break
      case 'PreToolUse':
        this.#uses.begin(hook)
        this.#overwritten.read(hook.tool_use_id ?? '', hook.tool_name ?? '', hook.tool_input ?? {})
        break
      case 'MessageDisplay':
        this.#live.grow(hook)
        break
      case 'PermissionRequest':
        return this.#ask(hook, gone)
      case 'PostToolUse':
      case 'PostToolUseFailure':
        this.#endUse(hook.tool_use_id, true)
        break
      case 'Stop':
        this.#turn.endOnceTold(hook.last_assistant_message, { reason: 'done' })
        break
      case 'StopFailure':
        this.#turn.endOnceTold(hook.last_assistant_message, { reason: 'failed', error: hook.error ?? 'Claude Code could not go on.' })
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
      case 'title':
        this.#nameIt(row)
        return
      case 'interrupted':
        // Its end is told once all that was read with it is noted.
        this.#turn.cut()
        return
      case 'block': {
        const { by, block, isLast } = row
        this.hasHistory = true
        this.#abilities.read()
        if (block.type === 'text' && by === 'assistant') this.#turn.said(block.text)
        if (block.type === 'text' && by === 'user') {
          this.#turn.endCut()
          this.#turn.begin()
        }
        if (block.type === 'tool_result') this.#endUse(block.tool_use_id, block.is_error !== true)
        this.#telling.take(row)
        // Without hooks nothing else says so.
        if (isLast && !this.#abilities.wasHeard) this.#turn.end({ reason: 'done' })
        return
      }
    }
  }

  /** The step is on the phone with the question, after all that was said before it. */
  async #ask(hook: Hook, gone: AbortSignal): Promise<object> {
    const { tool_name: name = 'Tool', tool_input: input = {}, permission_suggestions: suggestions } = hook
    const call = this.#uses.ask(name, input)
    if (call !== undefined && !planOf(name, input)) {
      await this.#transcript.readUntil(() => this.#telling.step(call) !== undefined, questionLagMs)
      this.#telling.begin(call, name, input)
    }
    const ask = call ?? `question-${++this.#questionsAsked}`
    if (gone.aborted) return {}
    return this.#questions.ask(
      ask,
      this.#telling.step(ask) ?? stepOf(ask, name, input, this.#overwritten.read(ask, name, input)),
      suggestions,
      gone
    )
  }

  #endUse(call: string | undefined, approved: boolean): void {
    if (call === undefined) return
    this.#uses.end(call)
    this.#questions.close(call, approved)
  }

  #noticeMode(mode: string | undefined): void {
    if (mode === undefined || mode === this.mode) return
    this.mode = mode
    this.#options.emit({ type: 'modes', modes: modesAt(mode) })
  }
}
