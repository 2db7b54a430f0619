import { pause } from '../../../async/pause.ts'
import type { PermissionChoice } from '../../../protocol/sealed/session.ts'
import type { Console } from '../../terminal/console.ts'
import type { AgentEvent, Modes, Step, TurnEnd } from '../agent.ts'
import { openPty, type Pty } from '../pty.ts'
import { type Hook, type Hooks, openHooks } from './hooks.ts'
import { type Row, resultText } from './rows.ts'
import { planOf, stepOf } from './steps.ts'
import { openTranscript, type Transcript } from './transcript.ts'

export interface TerminalClaudeOptions {
  home: string
  /** The program, as the person installed it. */
  claude: string
  directory: string
  env: Readonly<Record<string, string>>
  console: Console
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
  /** Resolves when the program has ended, by itself or not. */
  readonly ended: Promise<number>
}

export async function startTerminalClaude(options: TerminalClaudeOptions): Promise<TerminalClaude> {
  const claude = new OnTerminal(options)
  await claude.open()
  return claude
}

interface Question {
  step: Step
  suggestions: unknown[] | undefined
  settle(reply: object): void
}

const typedWithinMs = 3_000
const interruptWithinMs = 3_000
// A line of the transcript comes some time after the hook that belongs to it; on a busy computer, seconds.
const transcriptLagMs = 5_000
const lookEveryMs = 50

class OnTerminal implements TerminalClaude {
  conversation: string
  mode: string
  hasHistory: boolean
  ended: Promise<number> = Promise.resolve(0)
  readonly #options: TerminalClaudeOptions
  readonly #transcript: Transcript
  readonly #questions = new Map<string, Question>()
  readonly #steps = new Map<string, Step>()
  /** The last use of a tool: a question about it does not say which use it is. */
  #lastUse: Hook | undefined
  /** Waits for the hook that says that the typed message was taken. */
  #typing: { text: string; taken: () => void } | undefined
  /** Messages typed by us, which are not the words of the person at the terminal. */
  readonly #typed: string[] = []
  #isBusy = false
  #lastText: string | undefined
  #ending: Promise<void> = Promise.resolve()
  #isInterrupted = () => {}
  #hooks: Hooks | undefined
  #pty: Pty | undefined
  #questionsAsked = 0

  constructor(options: TerminalClaudeOptions) {
    this.#options = options
    this.conversation = options.conversation.id
    this.hasHistory = options.conversation.isOld
    this.mode = options.mode
    this.#transcript = openTranscript(Date.now(), row => this.#take(row))
  }

  async open(): Promise<void> {
    const { home, claude, directory, env, console, conversation, mode, prompt } = this.#options
    this.#hooks = await openHooks(home, (hook, gone) => this.#hear(hook, gone))
    const which = conversation.isOld ? ['--resume', conversation.id] : ['--session-id', conversation.id]
    const args = ['--settings', this.#hooks.settings, ...which, '--permission-mode', mode, ...(prompt ? [prompt] : [])]
    const pty = openPty({ command: claude, args, directory, env }, console)
    this.#pty = pty
    const giveKeysBack = console.takeKeys(keys => pty.write(keys.toString()))
    const stopResizing = console.onResize(() => pty.resize(console))
    this.ended = pty.ended.then(code => {
      giveKeysBack()
      stopResizing()
      this.#finish()
      return code
    })
  }

  async type(text: string): Promise<boolean> {
    const pty = this.#pty
    if (!pty || this.#questions.size > 0) return false
    // A first sign of these would run a command or a shell instead of saying it.
    const safe = (/^[!/#@]/.test(text) ? ' ' : '') + text.replaceAll('\x1b', '')
    const { promise: taken, resolve } = Promise.withResolvers<void>()
    this.#typing = { text: safe, taken: resolve }
    // What the person has half written is put aside, and comes back by itself.
    pty.write('\x13')
    await pause(80)
    pty.write(`\x1b[200~${safe}\x1b[201~`)
    await pause(120)
    pty.write('\r')
    const isTaken = await Promise.race([taken.then(() => true), pause(typedWithinMs).then(() => false)])
    this.#typing = undefined
    return isTaken
  }

  answer(ask: string, choice: string): boolean {
    const question = this.#questions.get(ask)
    if (!question) return false
    this.#questions.delete(ask)
    question.settle({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: decisionOf(choice, question) } })
    return true
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

  #finish(): void {
    this.#hooks?.close()
    for (const ask of [...this.#questions.keys()]) this.#close(ask)
    this.#transcript.read()
    this.#transcript.close()
    if (this.#isBusy) this.#endTurn({ reason: 'cancelled' })
  }

  async #hear(hook: Hook, gone: AbortSignal): Promise<object> {
    this.#noticeConversation(hook)
    switch (hook.hook_event_name) {
      case 'UserPromptSubmit':
        await this.#ending
        this.#lastText = undefined
        this.#isBusy = true
        this.#noticeTyped(hook.prompt ?? '')
        break
      case 'PreToolUse':
        this.#lastUse = hook
        this.#begin(hook.tool_use_id, hook.tool_name, hook.tool_input)
        break
      case 'PermissionRequest':
        return this.#ask(hook, gone)
      case 'PostToolUse':
      case 'PostToolUseFailure':
        this.#answeredHere(hook.tool_use_id, true)
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

  // A long text is wrapped again on its way, so its beginning has to do.
  #noticeTyped(prompt: string): void {
    const typing = this.#typing
    if (!typing || beginningOf(typing.text) !== beginningOf(prompt)) return
    this.#typed.push(beginningOf(prompt))
    typing.taken()
  }

  #take(row: Row): void {
    switch (row.type) {
      case 'mode':
        this.#noticeMode(row.mode)
        return
      case 'interrupted':
        for (const ask of [...this.#questions.keys()]) this.#close(ask)
        this.#endTurn({ reason: 'cancelled' })
        this.#isInterrupted()
        return
      case 'block':
        this.hasHistory = true
        this.#tell(row)
        return
    }
  }

  #tell({ by, uuid, index, block }: Extract<Row, { type: 'block' }>): void {
    const { emit } = this.#options
    const key = `${uuid}-${index}`
    switch (block.type) {
      case 'text': {
        if (by === 'user') this.#hearPrompt(block.text)
        else {
          this.#lastText = block.text
          emit({ type: 'text', block: key, text: block.text, thinking: false })
        }
        return
      }
      case 'thinking':
        if (block.thinking.trim() !== '') emit({ type: 'text', block: key, text: block.thinking, thinking: true })
        return
      case 'tool_use': {
        const plan = planOf(block.name, block.input)
        if (plan) emit({ type: 'plan', entries: plan })
        else this.#begin(block.id, block.name, block.input)
        return
      }
      case 'tool_result':
        this.#endStep(block.tool_use_id, block.is_error === true, resultText(block.content))
        return
    }
  }

  #hearPrompt(text: string): void {
    const ours = this.#typed.indexOf(beginningOf(text))
    if (ours >= 0) this.#typed.splice(ours, 1)
    else this.#options.emit({ type: 'prompted', text })
    this.#isBusy = true
  }

  /** Told by a hook first, and by the transcript too. */
  #begin(call: string | undefined, name: string | undefined, input: Record<string, unknown> | undefined): void {
    if (call === undefined || name === undefined || this.#steps.has(call) || planOf(name, input ?? {})) return
    const step = stepOf(call, name, input ?? {})
    this.#steps.set(call, step)
    this.#options.emit({ type: 'step-started', step })
  }

  #endStep(call: string, isError: boolean, text: string): void {
    const step = this.#steps.get(call)
    if (!step) return
    this.#answeredHere(call, !isError)
    this.#steps.delete(call)
    const content = text === '' ? step.content : [...step.content, { type: 'text' as const, text: shortened(text) }]
    this.#options.emit({ type: 'step-ended', step: { ...step, content }, status: isError ? 'failed' : 'completed' })
  }

  #ask(hook: Hook, gone: AbortSignal): Promise<object> {
    const { tool_name: name = 'Tool', tool_input: input = {}, permission_suggestions: suggestions } = hook
    const isSame = this.#lastUse?.tool_name === name && JSON.stringify(this.#lastUse.tool_input) === JSON.stringify(input)
    const call = (isSame ? this.#lastUse?.tool_use_id : undefined) ?? `question-${++this.#questionsAsked}`
    const step = this.#steps.get(call) ?? stepOf(call, name, input)
    const choices: PermissionChoice[] = [
      { id: 'allow', label: 'Allow once', kind: 'allow_once' },
      ...(suggestions?.length ? [{ id: 'always', label: 'Allow for this session', kind: 'allow_always' as const }] : []),
      { id: 'deny', label: 'Deny', kind: 'reject_once' }
    ]
    return new Promise(resolve => {
      this.#questions.set(call, { step, suggestions, settle: resolve })
      gone.addEventListener('abort', () => this.#close(call), { once: true })
      this.#options.emit({ type: 'permission-asked', asked: { ask: call, step, choices } })
    })
  }

  /** The dialog in the terminal was faster. */
  #answeredHere(call: string | undefined, isYes: boolean): void {
    if (call !== undefined) this.#close(call, isYes)
  }

  #close(ask: string, approved?: boolean): void {
    const question = this.#questions.get(ask)
    if (!question) return
    this.#questions.delete(ask)
    question.settle({})
    this.#options.emit({ type: 'permission-closed', ask, ...(approved !== undefined && { approved }) })
  }

  /** The turn is over when its last words were told. */
  async #endOnceTold({ last_assistant_message: last }: Hook, end: TurnEnd): Promise<void> {
    const latest = performance.now() + transcriptLagMs
    const isTold = () => {
      this.#transcript.read()
      return !last?.trim() || this.#lastText?.trim() === last.trim()
    }
    while (!isTold() && performance.now() < latest) await pause(lookEveryMs)
    this.#endTurn(end)
  }

  #endTurn(end: TurnEnd): void {
    if (!this.#isBusy) return
    this.#isBusy = false
    this.#options.emit({ type: 'turn-ended', ...end })
  }

  #noticeMode(mode: string | undefined): void {
    if (mode === undefined || mode === this.mode) return
    this.mode = mode
    this.#options.emit({ type: 'modes', modes: modesAt(mode) })
  }
}

/** The modes of Claude Code, in its own names. */
export function modesAt(current: string): Modes {
  const available = [
    { id: 'default', name: 'Ask first', description: undefined },
    { id: 'acceptEdits', name: 'Edit freely', description: undefined },
    { id: 'plan', name: 'Plan only', description: undefined },
    { id: 'bypassPermissions', name: 'Full auto', description: undefined }
  ]
  return {
    current,
    available: available.some(({ id }) => id === current)
      ? available
      : [...available, { id: current, name: current, description: undefined }]
  }
}

function decisionOf(choice: string, { suggestions }: Question): object {
  switch (choice) {
    case 'allow':
      return { behavior: 'allow' }
    case 'always':
      return { behavior: 'allow', updatedPermissions: suggestions }
    default:
      return { behavior: 'deny', message: 'The person said no, on their phone.' }
  }
}

const beginningLength = 60

function beginningOf(text: string): string {
  return text.replace(/\s+/g, '').slice(0, beginningLength)
}

const longestText = 64 * 1024

function shortened(text: string): string {
  if (text.length <= longestText) return text
  const half = longestText / 2
  return `${text.slice(0, half)}\n… ${text.length - longestText} characters left out …\n${text.slice(-half)}`
}
