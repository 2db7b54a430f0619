import type { Question, QuestionAnswer } from '../../protocol/sealed/decisions/questions.ts'
import type { AgentGoalStatus } from '../../protocol/sealed/goals.ts'
import type { PlanEntry, StepContent, StepKind, StepStatus } from '../../protocol/sealed/messages.ts'
import type { PermissionChoice, RetryReason, UsageWindow } from '../../protocol/sealed/session.ts'
import type { AgentProgram } from '../home/session-notes.ts'
import type { Console } from '../terminal/console.ts'

/** A step as far as the agent has told it; each event carries all that is known so far. */
export interface Step {
  /** The agent's own id of the call; permissions about it name the same. */
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
  /** Names this question; a call may be asked about more than once. */
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

/** What a person may choose among, and what is chosen now. */
export interface Options {
  current: string
  available: Option[]
}

export type Modes = Options

/** Whatever else of an agent can be chosen; by the agent's own id. */
export interface Setting extends Options {
  id: string
  name: string
  description: string | undefined
  /** It is on or off: `true` or `false`. */
  isSwitch: boolean
}

/** What an agent wants to know that is no permission: answers to a form, or that a person opens a page. */
export type QuestionAsk = {
  /** Names this question. */
  ask: string
  /** The step it belongs to. */
  call?: string | undefined
  title: string
} & ({ kind: 'form'; questions: Question[] } | { kind: 'link'; url: string })

/** By the ids of the questions of a form; those left out were not answered. */
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

/** Names what is told for ever, so that what is told again after a crash is kept once. */
interface Named {
  row?: string | undefined
}

/** The agent's own id of the one of its helpers that did it; none when the agent did it itself. */
interface Helped {
  subagent?: string | undefined
}

/** A place in a file that an agent writes: everything before it was told. */
export interface ToldUpTo {
  file: string
  /** In bytes. */
  offset: number
}

/** What is typed after a slash, and what the agent says of it in one line. */
export interface AgentCommand {
  readonly name: string
  readonly description?: string | undefined
}

export type AgentEvent =
  /** A block as it stands while it still grows; `text` is all of it. May be left out when the reader is slow. */
  | { type: 'text-grew'; block: string; text: string; thinking: boolean }
  /**
   * The same block once it is whole. `isCut`: the agent ended before that, and this is all that was heard of it. `isStopped`: it
   * broke off before that, because a person stopped it or its model failed.
   */
  | ({ type: 'text'; block: string; text: string; thinking: boolean; isCut?: boolean; isStopped?: boolean } & Named & Helped)
  | ({ type: 'step-started'; step: Step } & Named & Helped)
  | { type: 'step-updated'; step: Step }
  | ({ type: 'step-ended'; step: Step; status: StepStatus } & Named & Helped)
  /** A helper of the agent begins, or ends. */
  | ({ type: 'subagent-started'; subagent: string; title: string | undefined } & Named)
  | ({ type: 'subagent-stopped'; subagent: string } & Named)
  | ({ type: 'plan'; entries: PlanEntry[] } & Named)
  /** It shows one; `mimeType` is what the bytes are, whatever it said of them. */
  | ({ type: 'picture'; name: string } & Image & Named & Helped)
  | { type: 'permission-asked'; asked: PermissionAsk }
  /** The question is over without an answer from outside: answered at the terminal, withdrawn, or its turn was cancelled. */
  | { type: 'permission-closed'; ask: string; approved?: boolean }
  | { type: 'question-asked'; asked: QuestionAsk }
  /** As `permission-closed`; `answers` tells what the person at the terminal said. */
  | { type: 'question-closed'; ask: string; answers?: Answers }
  /**
   * This was written at the agent's own terminal; unless one runs already, a turn begins with it. `isOurs`: it is what
   * `prompt` was given, and only now is it certain that the agent keeps it.
   */
  | ({ type: 'prompted'; text: string; isOurs: boolean } & Named)
  /** All before it was read from there: when it is kept, so is this place. */
  | { type: 'told'; upTo: ToldUpTo }
  /** The agent is now at its own terminal, or with the phone. */
  | { type: 'controlled'; by: 'terminal' | 'phone' }
  /** It goes on under another id. */
  | { type: 'conversation'; id: string }
  | { type: 'modes'; modes: Modes }
  /** The models, and how long it may think; undefined where it offers no choice. */
  | { type: 'options'; models: Options | undefined; efforts: Options | undefined }
  /** All of them as they stand now. */
  | { type: 'settings'; settings: Setting[] }
  | { type: 'commands'; commands: readonly AgentCommand[] }
  | { type: 'title'; title: string }
  /** What it works towards until it is so, or that this is over. */
  | { type: 'goal'; goal: AgentGoalStatus }
  /** Tokens in the context of the model, how many fit, and what the whole conversation has cost so far. */
  | { type: 'usage'; used: number; size: number; cost?: Cost | undefined }
  | { type: 'notice'; text: string }
  /**
   * Its model refused, and is asked again by itself after that time; `attempt` counts from 1; undefined when it does not say. What grew and was not whole is not said: it
   * is said anew.
   */
  | { type: 'retrying'; attempt?: number | undefined; of?: number | undefined; inMs: number; why: RetryReason }
  /** `isLost`: the agent ended in it, and may have written down more than it said. */
  | ({ type: 'turn-ended'; isLost?: boolean } & TurnEnd)
  /** How much of what the account may use is used; of windows that are not named nothing new is known. */
  | { type: 'usage-windows'; windows: UsageWindow[] }

/** The way of a conversation between the agent's own terminal and the phone. Nothing said is lost on it. */
export interface Handover {
  readonly by: 'terminal' | 'phone'
  /** Ends the turn that runs at the terminal. */
  toPhone(): Promise<void>
  toTerminal(): Promise<void>
}

/** An agent's own screen beside the phone: it comes and goes, and the agent works on. */
export interface OwnScreen {
  readonly isOpen: boolean
  /** Does nothing while it is open. */
  open(): void
}

/** What was said in a conversation and nobody was told. */
export interface Untold {
  events: readonly AgentEvent[]
  upTo: ToldUpTo | undefined
}

/** A running agent. Every method is safe to call after it has stopped. */
export interface Agent {
  /** The id by which the agent knows this conversation; `start` takes it back as `resume`. */
  readonly conversation: string
  readonly version: string | undefined
  /** Ends when the agent was stopped, and throws AgentDied when it ended by itself. One reader. */
  readonly events: AsyncIterable<AgentEvent>
  /** Whether `prompt` takes images. */
  readonly takesImages?: boolean
  /**
   * Begins a turn, which ends with one `turn-ended`. Resolves when the agent was told; one turn at a time. False when it
   * could not be told, most often because it has ended: no turn begins, and the same may be tried again.
   */
  prompt(text: string, images?: readonly Image[]): Promise<boolean>
  /** Says it within the turn that runs, which goes on. False when that cannot be now; without it the turn has to be ended first. */
  readonly steer?: ((text: string, images?: readonly Image[]) => Promise<boolean>) | undefined
  /** False when the question is not open any more, or has no such choice. `reason`: why not, for one that `hearsReasons`. */
  answer(ask: string, choice: string, reason?: string): boolean
  /** It takes a reason with a no; to any other that has to be said. */
  readonly hearsReasons?: boolean
  /** Mode ids are the agent's own, see the `modes` event. False when it has no such mode or refused. */
  setMode(mode: string): Promise<boolean>
  /** As `setMode`, by the ids of the `options` event. `later`: once the phone drives, if it has one of that id. */
  setModel?(model: string): Promise<boolean | 'later'>
  setEffort?(effort: string): Promise<boolean | 'later'>
  /** As `setMode`, by the ids of the `settings` event. */
  setSetting?(id: string, value: string): Promise<boolean>
  /**
   * The answers are to questions of the form, with options that it has, and none is missing that has to be. False when the question is
   * not open any more. Throws, with a sentence for the one who answers, when a text does not fit; the question then stays open. Without
   * answers the person would rather not say; a page was opened with none in them.
   */
  answerQuestion?(ask: string, answers: Answers | undefined): boolean
  /**
   * Changes the goal it works towards; without an objective it has none any more. Resolves to what has to be said to it when it
   * hears that only between its turns. Its `goal` event tells when it is so. Throws, with a sentence, when it cannot be now.
   */
  changeGoal?(objective: string | undefined): Promise<string | undefined>
  /** Begins a second conversation with the same past, and resolves to its id. */
  fork?(): Promise<string>
  /** Ends the turn that runs; open questions are closed. */
  cancel(): Promise<void>
  /** Only for an agent that has a terminal of its own here. */
  readonly handover?: Handover
  /** Only for an agent that draws on the person's terminal while the phone writes to it too. */
  readonly ownScreen?: OwnScreen
  /** It says with `prompted` what it has written down of what it was given, and with `told` how far all was told. */
  readonly writesDown?: boolean
  /** Where what it writes down of a turn that begins now will stand, so that the rest of one in which this process dies can be told. */
  writesAt?(): ToldUpTo | undefined
  /** What it wrote down after the place that `start` was given as `toldUpTo`. */
  readonly untold?: Untold
  /** Ends the agent and everything it started. Resolves when nothing of it runs any more. */
  stop(): Promise<void>
}

/** The person's terminal, for an agent that has a screen of its own. */
export interface AgentScreen {
  console: Console
  /** What to say to it first. */
  prompt: string | undefined
  /** For the person who looks at its screen. */
  announcement: string
  /** Called before it draws on the terminal by itself, and after. */
  onDrawing(isDrawing: boolean): void
}

export interface StartAgent {
  directory: string
  /** All variables the agent gets; nothing is added to them. */
  env: Readonly<Record<string, string>>
  /** The conversation to go on with. */
  resume?: string | undefined
  /** Nobody has told anything of `resume` yet: its last turns come as `untold`, from an agent that can tell them. */
  isUntold?: boolean | undefined
  /** How far that was told; what came after it comes as `untold`. */
  toldUpTo?: ToldUpTo | undefined
  /** The mode to begin in, by the agent's own id or a name existing apps use; without it one that asks. */
  mode?: string | undefined
  /** Where it shall begin, if its kind has a screen of its own; without it the phone drives. */
  screen?: AgentScreen | undefined
  signal?: AbortSignal | undefined
}

/** One kind of agent that this program knows how to run. */
export interface AgentKind {
  /** The `flavor` that apps know: claude, codex, gemini, opencode or acp. */
  readonly flavor: string
  /** What to call it on screen. */
  readonly title: string
  readonly program: AgentProgram
  /** Whether it can run at the terminal on a screen of its own. */
  readonly hasOwnScreen?: boolean
  /** Throws CannotStart, with what to do about it, when the agent is not here or refuses to start. */
  start(how: StartAgent): Promise<Agent>
}

/** The agent ended without being asked to. */
export class AgentDied extends Error {
  /** The last lines it wrote to its error output. */
  readonly lastLines: string
  readonly how: string

  constructor(how: string, lastLines: string) {
    super(`The agent ended by itself (${how}).`)
    this.name = 'AgentDied'
    this.how = how
    this.lastLines = lastLines
  }
}
