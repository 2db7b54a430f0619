import { realpathSync } from 'node:fs'
import { isDoneWithin } from '../../../../async/deadline.ts'
import type { Console } from '../../../terminal/console.ts'
import { signInFirst } from '../../acp/refusals.ts'
import type { AgentEvent, Answers } from '../../agent.ts'
import { type HeadlessProbe, longestCommand } from '../headless-probe.ts'
import { modesAt } from '../modes.ts'
import { goalCommand, lastGoalIn } from '../transcript/goals.ts'
import { createTitles, createTranslator, type Translator } from '../transcript/history.ts'
import { promptOf, type Row } from '../transcript/rows.ts'
import { openTranscript, sizeOf, type Transcript, transcriptFile } from '../transcript/transcript.ts'
import { createUsage, type Usage } from '../usage.ts'
import { type Hook, type Hooks, openHooks } from './hooks.ts'
import { beginningOf, createKeyboard, type Keyboard } from './keyboard.ts'
import { createRequests, type Requests } from './requests.ts'
import { watchForRetries } from './retries.ts'
import { type OwnScreen, openOwnScreen, type TerminalEnd } from './screen.ts'
import {
  type Abilities,
  createAbilities,
  createPartialText,
  createTerminalTurn,
  type Missing,
  type PartialText,
  type TerminalTurn
} from './turn.ts'

interface TerminalClaudeOptions {
  home: string
  /** The program, as the person installed it. */
  claude: string
  directory: string
  env: Readonly<Record<string, string>>
  console: Console
  /** The first line on its own screen. */
  announcement: string
  /** Known beforehand for a new conversation; an old one is resumed. */
  conversation: { id: string; isOld: boolean }
  mode: string
  prompt?: string | undefined
  /** What its own screen does not report. */
  probe: HeadlessProbe
  emit(event: AgentEvent): void
  /** Reported after a turn in which something that we need was missing. */
  onMissing(missing: Missing): void
}

/** Claude Code's own screen in the person's terminal, followed through its hooks and its transcript. */
export interface TerminalClaude {
  readonly conversation: string
  readonly mode: string
  /** Whether the conversation has any message: otherwise it cannot be resumed. */
  readonly hasHistory: boolean
  /**
   * Types a message for the person at the phone. False if it was not accepted, for example because a dialog
   * is open.
   */
  type(text: string): Promise<boolean>
  /** Whether a message that seemed not to be accepted was. */
  hasWrittenDown(text: string): boolean
  /** Types a command that sets or clears its goal. False if it cannot be typed now. */
  changeGoal(objective: string | undefined): Promise<boolean>
  answer(ask: string, choice: string, reason?: string): boolean
  answerQuestion(ask: string, answers: Answers | undefined): boolean
  /** Esc: text so far is kept. */
  interrupt(): Promise<void>
  /** Interrupts, ends it, and sends the rest of its output. */
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

class OnTerminal implements TerminalClaude {
  conversation: string
  mode: string
  hasHistory: boolean
  ended: Promise<TerminalEnd> = Promise.resolve({ type: 'left' })
  readonly #options: TerminalClaudeOptions
  readonly #transcript: Transcript
  readonly #translator: Translator
  readonly #requests: Requests
  readonly #keyboard: Keyboard
  readonly #partial: PartialText
  readonly #abilities: Abilities
  readonly #turn: TerminalTurn
  readonly #usage: Usage
  readonly #nameIt: ReturnType<typeof createTitles>
  #hooks: Hooks | undefined
  #screen: OwnScreen | undefined
  /** The last prompt reported by its hook. */
  #submitted = ''

  constructor(options: TerminalClaudeOptions) {
    const { conversation, mode, emit, onMissing, probe } = options
    this.#options = options
    this.conversation = conversation.id
    this.hasHistory = conversation.isOld
    this.mode = mode
    this.#requests = createRequests(emit, () => ({ translator: this.#translator, transcript: this.#transcript }))
    this.#keyboard = createKeyboard(keys => this.#screen?.write(keys))
    this.#partial = createPartialText(emit)
    this.#nameIt = createTitles(emit)
    this.#usage = createUsage(emit, model => probe.windowOf(model))
    this.#abilities = createAbilities(onMissing)
    this.#translator = createTranslator({
      emit,
      isOurs: text => this.#keyboard.isOurs(text),
      blockOf: text => this.#partial.blockOf(text),
      overwritten: this.#requests.overwritten
    })
    this.#transcript = openTranscript({
      onRow: row => this.#take(row),
      onRead: upTo => {
        emit({ type: 'history-read', upTo })
        this.#turn.endCut()
      }
    })
    this.#turn = createTerminalTurn({
      emit,
      requests: this.#requests,
      translator: this.#translator,
      abilities: this.#abilities,
      usage: this.#usage,
      transcript: () => this.#transcript,
      status: () => this.#screen?.status
    })
  }

  async open(): Promise<void> {
    const { home, claude, directory, env, console, announcement, conversation, mode, prompt, emit } = this.#options
    const file = transcriptFile(env, realpathSync(directory), conversation.id)
    const goal = lastGoalIn(file)
    if (goal) emit({ type: 'goal', goal })
    this.#transcript.follow(file, sizeOf(file))
    this.#hooks = await openHooks({ home, announcement, onHook: (hook, gone) => this.#hear(hook, gone) })
    const which = conversation.isOld ? ['--resume', conversation.id] : ['--session-id', conversation.id]
    const args = ['--settings', this.#hooks.settings, ...which, '--permission-mode', mode, ...(prompt ? [prompt] : [])]
    this.#screen = this.#open({ command: claude, args, directory, env }, console)
    this.ended = this.#screen.ended.then(end => {
      this.#finish(end)
      return end
    })
    void this.#screen.isReady.then(() => this.#tellCommands())
  }

  async #tellCommands(): Promise<void> {
    const commands = await this.#options.probe.commands()
    if (commands.length > 0) this.#options.emit({ type: 'commands', commands })
  }

  #open(program: Parameters<typeof openOwnScreen>[0], console: Console): OwnScreen {
    try {
      const onRetry: Parameters<typeof watchForRetries>[1] = retrying => {
        this.#partial.forget()
        this.#options.emit(retrying)
      }
      return openOwnScreen(program, watchForRetries(console, onRetry), () => this.#abilities.wasHeard)
    } catch (error) {
      this.#finish({ type: 'left' })
      throw error
    }
  }

  async type(text: string): Promise<boolean> {
    const command = text.startsWith('/') ? await this.#options.probe.commandIn(text) : undefined
    // It may open a dialog, which nobody at the phone could close; with the phone it reports what it does.
    if (command === 'other' || !(await this.#isFree())) return false
    return this.#keyboard.type(text, { isCommand: command === 'prompt' })
  }

  async changeGoal(objective: string | undefined): Promise<boolean> {
    const command = goalCommand(objective)
    if (command.length > longestCommand || !(await this.#isFree())) return false
    await this.#keyboard.command(command)
    return true
  }

  /** Whether typed text becomes a prompt, and does not go into a dialog. */
  async #isFree(): Promise<boolean> {
    const screen = this.#screen
    if (!screen) return false
    await isDoneWithin(readyWithinMs, Promise.race([screen.isReady, this.ended]))
    return !this.#requests.areOpen && screen.status !== 'waiting'
  }

  hasWrittenDown(text: string): boolean {
    return this.#keyboard.hasWrittenDown(text)
  }

  answer(ask: string, choice: string, reason?: string): boolean {
    return this.#requests.answer(ask, choice, reason)
  }

  answerQuestion(ask: string, answers: Answers | undefined): boolean {
    return this.#requests.answerForm(ask, answers)
  }

  async interrupt(): Promise<void> {
    // Typed, and not accepted yet: it is stopped once it is.
    if (!this.#turn.isRunning && this.#screen?.status !== 'busy') return
    const isOver = Promise.race([this.#turn.whenStopped(), this.ended])
    const isStopped = () => {
      this.#screen?.write('\x1b')
      return isDoneWithin(interruptWithinMs, isOver)
    }
    // Something else may have consumed the key. An idle one would treat it as a request to go back.
    const isDone = (await isStopped()) || (this.#screen?.status === 'busy' && (await isStopped()))
    // Whatever it does now, nothing waits for it any more.
    if (!isDone) this.#turn.end({ reason: 'cancelled' })
  }

  async end(): Promise<void> {
    // A signal alone would lose the half of an answer that is already on screen.
    await this.interrupt()
    await this.#screen?.end()
    await this.ended
  }

  #finish(end: TerminalEnd): void {
    this.#hooks?.close()
    this.#transcript.read()
    this.#transcript.close()
    // It records an answer once complete: of the last one there may be nothing else.
    if (this.#turn.isRunning) this.#partial.cut()
    const isDead = end.type === 'died'
    this.#turn.lose(isDead ? { reason: 'failed', error: `Claude Code exited unexpectedly (${end.how}).` } : { reason: 'cancelled' })
  }

  async #hear(hook: Hook, gone: AbortSignal): Promise<object> {
    this.#abilities.hear()
    this.#noticeConversation(hook)
    switch (hook.hook_event_name) {
      case 'UserPromptSubmit':
        await this.#turn.ending
        this.#submitted = hook.prompt ?? ''
        if (!this.#turn.isRunning) this.#partial.forget()
        this.#turn.begin()
        this.#keyboard.taken(hook.prompt ?? '')
        break
      case 'PreToolUse':
        this.#requests.begin(hook)
        break
      case 'MessageDisplay':
        this.#partial.grow(hook)
        break
      case 'PermissionRequest':
        return this.#requests.ask(hook, gone)
      case 'PostToolUse':
      case 'PostToolUseFailure':
        this.#requests.end(hook.tool_use_id, true, hook.tool_input)
        break
      case 'Stop':
        this.#turn.endOnceReported(hook.last_assistant_message, { reason: 'done' })
        break
      case 'StopFailure':
        this.#turn.endOnceReported(hook.last_assistant_message, { reason: 'failed', error: failureOf(hook) })
        break
    }
    this.#noticeMode(hook.permission_mode)
    return {}
  }

  /** Also when the person switches to another one with a command at the terminal. */
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
      case 'goal':
        this.#options.emit(row)
        return
      case 'usage':
        this.#usage.take(row.used, row.model)
        return
      case 'command':
        // One that only did something at the terminal was not submitted.
        if (beginningOf(row.text) === beginningOf(this.#submitted)) this.#take(promptOf(row))
        return
      case 'interrupted':
        // Its end is sent once everything read with it is recorded.
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
        if (block.type === 'tool_result') this.#requests.end(block.tool_use_id, block.is_error !== true)
        this.#translator.take(row)
        // Without hooks nothing else says so.
        if (isLast && !this.#abilities.wasHeard) this.#turn.end({ reason: 'done' })
        return
      }
    }
  }

  #noticeMode(mode: string | undefined): void {
    if (mode === undefined || mode === this.mode) return
    this.mode = mode
    this.#options.emit({ type: 'modes', modes: modesAt(mode) })
  }
}

/** If its last words say so too, it is sent only once. */
function failureOf({ error, last_assistant_message: said }: Hook): string {
  if (error === 'authentication_failed') return signInFirst('Claude Code')
  return said?.trim() || 'Claude Code could not continue.'
}
