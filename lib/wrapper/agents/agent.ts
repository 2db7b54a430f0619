import type { PlanEntry, StepContent, StepKind, StepStatus } from '../../protocol/sealed/messages.ts'
import type { PermissionChoice } from '../../protocol/sealed/session.ts'
import type { Console } from '../terminal/console.ts'
import type { AgentProgram } from './program.ts'

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

export interface Mode {
  id: string
  name: string
  description: string | undefined
}

export interface Modes {
  current: string
  available: Mode[]
}

export type TurnEnd = { reason: 'done' | 'cancelled' } | { reason: 'failed'; error: string }

/** Names what is told for ever, so that what is told again after a crash is kept once. */
interface Named {
  row?: string
}

/** A place in a file that an agent writes: everything before it was told. */
export interface ToldUpTo {
  file: string
  /** In bytes. */
  offset: number
}

export type AgentEvent =
  /** A block as it stands while it still grows; `text` is all of it. May be left out when the reader is slow. */
  | { type: 'text-grew'; block: string; text: string; thinking: boolean }
  /** The same block once it is whole. */
  | ({ type: 'text'; block: string; text: string; thinking: boolean } & Named)
  | ({ type: 'step-started'; step: Step } & Named)
  | { type: 'step-updated'; step: Step }
  | ({ type: 'step-ended'; step: Step; status: StepStatus } & Named)
  | ({ type: 'plan'; entries: PlanEntry[] } & Named)
  | { type: 'permission-asked'; asked: PermissionAsk }
  /** The question is over without an answer from outside: answered at the terminal, withdrawn, or its turn was cancelled. */
  | { type: 'permission-closed'; ask: string; approved?: boolean }
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
  | { type: 'commands'; names: string[] }
  | { type: 'title'; title: string }
  /** Tokens in the context of the model, and how many fit. */
  | { type: 'usage'; used: number; size: number }
  | { type: 'notice'; text: string }
  | ({ type: 'turn-ended' } & TurnEnd)

/** The way of a conversation between the agent's own terminal and the phone. Nothing said is lost on it. */
export interface Handover {
  readonly by: 'terminal' | 'phone'
  /** Ends the turn that runs at the terminal. */
  toPhone(): Promise<void>
  toTerminal(): Promise<void>
}

/** A running agent. Every method is safe to call after it has stopped. */
export interface Agent {
  /** The id by which the agent knows this conversation; `start` takes it back as `resume`. */
  readonly conversation: string
  readonly version: string | undefined
  /** Ends when the agent was stopped, and throws AgentDied when it ended by itself. One reader. */
  readonly events: AsyncIterable<AgentEvent>
  /** Begins a turn, which ends with one `turn-ended`. Resolves when the agent was told; one turn at a time. */
  prompt(text: string): Promise<void>
  /** False when the question is not open any more, or has no such choice. */
  answer(ask: string, choice: string): boolean
  /** Mode ids are the agent's own, see the `modes` event. False when it has no such mode or refused. */
  setMode(mode: string): Promise<boolean>
  /** Ends the turn that runs; open questions are closed. */
  cancel(): Promise<void>
  /** Only for an agent that has a terminal of its own here. */
  readonly handover?: Handover
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
  /** Whether it can run at the terminal on a screen of its own, and change over to the phone. */
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
