import type { Question, QuestionAnswer } from '../../protocol/sealed/decisions/questions.ts'
import type { AgentGoalStatus } from '../../protocol/sealed/goals.ts'
import type { PlanEntry, StepContent, StepKind, StepStatus } from '../../protocol/sealed/messages.ts'
import type { PermissionChoice, RetryReason, UsageWindow } from '../../protocol/sealed/session.ts'
import type { AgentProgram } from '../home/session-notes.ts'
import type { Console } from '../terminal/console.ts'

/** A step as reported so far; each event has everything known up to then. */
export interface Step {
  /** The agent's own id of the call; permission requests for it use the same. */
  call: string
  name: string
  title: string
  kind: StepKind
  input: Record<string, unknown>
  /** Paths as the agent gave them. */
  locations: string[]
  content: StepContent[]
}

export interface PermissionAsk {
  /** Identifies this question; a call may have more than one. */
  ask: string
  step: Step
  choices: PermissionChoice[]
}

/** By the agent's own id. */
interface Option {
  id: string
  name: string
  description: string | undefined
}

/** The options for a person, and the current choice. */
export interface Options {
  current: string
  available: Option[]
}

export type Modes = Options

/** Other options of an agent; by the agent's own id. */
export interface Setting extends Options {
  id: string
  name: string
  description: string | undefined
  /** It is on or off: `true` or `false`. */
  isSwitch: boolean
}

/** A question that is not a permission: answers to a form, or a page to open. */
export type QuestionAsk = {
  /** Identifies this question. */
  ask: string
  /** The step it belongs to. */
  call?: string | undefined
  title: string
} & ({ kind: 'form'; questions: Question[] } | { kind: 'link'; url: string })

/** By the ids of the questions of a form; omitted ones were not answered. */
export type Answers = Readonly<Record<string, QuestionAnswer>>

export interface Image {
  mimeType: string
  bytes: Uint8Array
}

interface Cost {
  amount: number
  currency: string
}

export type TurnEnd = { reason: 'done' | 'cancelled' } | { reason: 'failed'; error: string }

/** A permanent name for the event, so that one sent again after a crash is stored once. */
interface Named {
  row?: string | undefined
}

/** The agent's own id of the subagent that did it; none for the agent itself. */
interface Helped {
  subagent?: string | undefined
}

/** A position in a file that an agent writes: everything before it was sent. */
export interface HistoryPosition {
  file: string
  /** In bytes. */
  offset: number
}

/** What is typed after a slash, and the agent's one-line description. */
export interface AgentCommand {
  readonly name: string
  readonly description?: string | undefined
}

export type AgentEvent =
  /** A growing block; `text` is all of it so far. May be skipped when the reader is slow. */
  | { type: 'text-grew'; block: string; text: string; thinking: boolean }
  /**
   * The complete block. `isCut`: the agent ended before that, and this is all that was received.
   * `isStopped`: it broke off, because a person stopped it or its model failed.
   */
  | ({ type: 'text'; block: string; text: string; thinking: boolean; isCut?: boolean; isStopped?: boolean } & Named & Helped)
  | ({ type: 'step-started'; step: Step } & Named & Helped)
  | { type: 'step-updated'; step: Step }
  | ({ type: 'step-ended'; step: Step; status: StepStatus } & Named & Helped)
  /** A subagent starts, or ends. */
  | ({ type: 'subagent-started'; subagent: string; title: string | undefined } & Named)
  | ({ type: 'subagent-stopped'; subagent: string } & Named)
  | ({ type: 'plan'; entries: PlanEntry[] } & Named)
  /** It shows a picture; `mimeType` is from the bytes, whatever the agent said. */
  | ({ type: 'picture'; name: string } & Image & Named & Helped)
  | { type: 'permission-asked'; asked: PermissionAsk }
  /**
   * The question ended without an answer from outside: answered at the terminal, withdrawn, or its turn was
   * cancelled.
   */
  | { type: 'permission-closed'; ask: string; approved?: boolean }
  | { type: 'question-asked'; asked: QuestionAsk }
  /** Like `permission-closed`; `answers` are those of the person at the terminal. */
  | { type: 'question-closed'; ask: string; answers?: Answers }
  /**
   * This was typed at the agent's own terminal; unless one runs already, a turn starts with it. `isOurs`:
   * it is what `prompt` was given, and only now is it certain that the agent has it.
   */
  | ({ type: 'prompted'; text: string; isOurs: boolean } & Named)
  /** Everything before it was read from there: once that is stored, so is this position. */
  | { type: 'history-read'; upTo: HistoryPosition }
  /** The agent is now at its own terminal, or controlled by the phone. */
  | { type: 'controlled'; by: 'terminal' | 'phone' }
  /** It continues under another id. */
  | { type: 'conversation'; id: string }
  | { type: 'modes'; modes: Modes }
  /** The models and reasoning levels; undefined where it offers no choice. */
  | { type: 'options'; models: Options | undefined; efforts: Options | undefined }
  /** All of their current values. */
  | { type: 'settings'; settings: Setting[] }
  | { type: 'commands'; commands: readonly AgentCommand[] }
  | { type: 'title'; title: string }
  /** The goal it works towards until done, or that it has none any more. */
  | { type: 'goal'; goal: AgentGoalStatus }
  /** Tokens in the context of the model, its size, and the cost of the whole conversation so far. */
  | { type: 'usage'; used: number; size: number; cost?: Cost | undefined }
  | { type: 'notice'; text: string }
  /**
   * Its model returned an error, and is retried automatically after that time; `attempt` counts from 1;
   * undefined if unknown. Incomplete text is discarded and written again.
   */
  | { type: 'retrying'; attempt?: number | undefined; of?: number | undefined; inMs: number; why: RetryReason }
  /** `isLost`: the agent ended mid-turn, and may have recorded more than it sent. */
  | ({ type: 'turn-ended'; isLost?: boolean } & TurnEnd)
  /** The usage of the account's limits; nothing new is known of windows that are not listed. */
  | { type: 'usage-windows'; windows: UsageWindow[] }

/** The switch of a conversation between the agent's own terminal and the phone. No message is lost by it. */
export interface Handover {
  readonly by: 'terminal' | 'phone'
  /** Ends the running turn at the terminal. */
  toPhone(): Promise<void>
  toTerminal(): Promise<void>
}

/** An agent's own screen next to the phone: it opens and closes while the agent works on. */
export interface OwnScreen {
  readonly isOpen: boolean
  /** Does nothing while it is open. */
  open(): void
}

/** Content of a conversation that was never sent. */
export interface UnsentHistory {
  events: readonly AgentEvent[]
  upTo: HistoryPosition | undefined
}

/** A running agent. Every method is safe to call after it has stopped. */
export interface Agent {
  /** The agent's id of this conversation; `start` accepts it as `resume`. */
  readonly conversation: string
  readonly version: string | undefined
  /** Ends when the agent was stopped, and throws AgentDied if it ended by itself. One reader. */
  readonly events: AsyncIterable<AgentEvent>
  /** Whether `prompt` accepts images. */
  readonly takesImages?: boolean
  /**
   * Starts a turn, which ends with one `turn-ended`. Resolves once the agent has the prompt; one turn at a
   * time. False if it could not be given, usually because the agent has ended: no turn starts, and it may
   * be tried again.
   */
  prompt(text: string, images?: readonly Image[]): Promise<boolean>
  /**
   * Adds input to the running turn, which continues. False if that is not possible now; without it the turn
   * has to be ended first.
   */
  readonly steer?: ((text: string, images?: readonly Image[]) => Promise<boolean>) | undefined
  /**
   * False if the question is no longer open, or has no such choice. `reason`: why not, for one that
   * `hearsReasons`.
   */
  answer(ask: string, choice: string, reason?: string): boolean
  /** It accepts a reason with a no; others need it as a message. */
  readonly hearsReasons?: boolean
  /** Mode ids are the agent's own, see the `modes` event. False if it has no such mode or rejected it. */
  setMode(mode: string): Promise<boolean>
  /**
   * Like `setMode`, by the ids of the `options` event. `later`: once the phone is in control, if that has
   * such an id.
   */
  setModel?(model: string): Promise<boolean | 'later'>
  setEffort?(effort: string): Promise<boolean | 'later'>
  /** Like `setMode`, by the ids of the `settings` event. */
  setSetting?(id: string, value: string): Promise<boolean>
  /**
   * The answers belong to the form's questions and options, with none of the required ones missing. False
   * if the question is no longer open. Throws, with a sentence for the person answering, if a text is
   * invalid; the question then stays open. Without answers the person skips the question; a page was opened
   * if there are empty answers.
   */
  answerQuestion?(ask: string, answers: Answers | undefined): boolean
  /**
   * Changes its goal; without an objective it is cleared. Resolves to the message for an agent that accepts
   * it only between turns. The `goal` event confirms it. Throws, with a sentence, if it is not possible
   * now.
   */
  changeGoal?(objective: string | undefined): Promise<string | undefined>
  /** Creates a second conversation with the same history, and resolves to its id. */
  fork?(): Promise<string>
  /** Ends the running turn; open questions are closed. */
  cancel(): Promise<void>
  /** Only for an agent with its own terminal here. */
  readonly handover?: Handover
  /** Only for an agent that draws on the person's terminal while the phone writes to it too. */
  readonly ownScreen?: OwnScreen
  /** It confirms recorded input with `prompted`, and with `history-read` how far everything was sent. */
  readonly writesDown?: boolean
  /**
   * The position in its recording at which a new turn starts, so that the rest of one in which this process
   * dies can be sent.
   */
  writesAt?(): HistoryPosition | undefined
  /** What it recorded after the position that `start` was given as `sentUpTo`. */
  readonly unsent?: UnsentHistory
  /** Ends the agent and everything it started. Resolves when none of it runs any more. */
  stop(): Promise<void>
}

/** The person's terminal, for an agent with its own screen. */
export interface AgentScreen {
  console: Console
  /** Its first prompt. */
  prompt: string | undefined
  /** For the person at its screen. */
  announcement: string
  /** Called before it draws on the terminal by itself, and after. */
  onDrawing(isDrawing: boolean): void
}

export interface StartAgent {
  directory: string
  /** All variables of the agent; nothing is added to them. */
  env: Readonly<Record<string, string>>
  /** The conversation to resume. */
  resume?: string | undefined
  /** Nothing of `resume` was sent yet: its last turns come as `unsent`, from an agent that can replay them. */
  isUnsent?: boolean | undefined
  /** How far that was sent; later content comes as `unsent`. */
  sentUpTo?: HistoryPosition | undefined
  /** The mode to start in, by the agent's own id or a name existing apps use; without it one that asks. */
  mode?: string | undefined
  /** Where it starts, if its kind has its own screen; without it the phone is in control. */
  screen?: AgentScreen | undefined
  signal?: AbortSignal | undefined
}

/** A kind of agent that this program can run. */
export interface AgentKind {
  /** The `flavor` that apps know: claude, codex, gemini, opencode or acp. */
  readonly flavor: string
  /** Its name on screen. */
  readonly title: string
  readonly program: AgentProgram
  /** Whether it can run on its own screen at the terminal. */
  readonly hasOwnScreen?: boolean
  /** Throws CannotStart, with what to do about it, if the agent is not installed or does not start. */
  start(how: StartAgent): Promise<Agent>
}

/** The agent ended by itself. */
export class AgentDied extends Error {
  /** The last lines of its error output. */
  readonly lastLines: string
  readonly how: string

  constructor(how: string, lastLines: string) {
    super(`The agent exited unexpectedly (${how}).`)
    this.name = 'AgentDied'
    this.how = how
    this.lastLines = lastLines
  }
}
