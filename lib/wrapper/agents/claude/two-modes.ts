import type { BoundedQueue } from '../../../async/queue.ts'
import type { Agent, AgentEvent, Answers, Handover, Image, ToldUpTo } from '../agent.ts'
import { endOfTranscript } from './transcript/transcript.ts'
import { type TwoModesOptions, TwoSides } from './two-sides.ts'

/**
 * One conversation with Claude Code that is at the terminal or with the phone, and changes over as people want. At the
 * terminal it is its own screen, and the phone reads along, decides and writes; with the phone it runs without one.
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

  /** At its own terminal it is given files instead. */
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
    // Where it stays at its terminal it has begun anew there, without the dialog that was open.
    return (await this.#sides.remote?.prompt(text, images)) ?? (await this.#sides.terminal?.type(text)) ?? false
  }

  writesAt(): ToldUpTo | undefined {
    return endOfTranscript(this.#how.env, this.#how.directory, this.conversation)
  }

  answer(ask: string, choice: string, reason?: string): boolean {
    const { terminal, remote } = this.#sides
    return terminal?.answer(ask, choice, reason) ?? remote?.answer(ask, choice) ?? false
  }

  get hearsReasons(): boolean {
    return this.#sides.terminal !== undefined
  }

  /** At its own terminal it takes what is typed there as it comes. */
  get steer(): Agent['steer'] {
    const { remote } = this.#sides
    return remote?.steer?.bind(remote)
  }

  async setMode(mode: string): Promise<boolean> {
    await this.#sides.settled
    const { remote, terminal, wishes } = this.#sides
    if (remote) return remote.setMode(mode)
    // At the terminal only the keys there change it, and which of them does is up to the person and the version.
    wishes.note({ mode })
    return mode === terminal?.mode
  }

  async setModel(model: string): Promise<boolean | 'later'> {
    await this.#sides.settled
    const { remote, wishes } = this.#sides
    if (remote) return (await remote.setModel?.(model)) ?? false
    wishes.note({ model })
    return 'later'
  }

  async setEffort(effort: string): Promise<boolean | 'later'> {
    await this.#sides.settled
    const { remote, wishes } = this.#sides
    if (remote) return (await remote.setEffort?.(effort)) ?? false
    wishes.note({ effort })
    return 'later'
  }

  /** At its terminal it takes a goal also while it works. */
  async changeGoal(objective: string | undefined): Promise<string | undefined> {
    await this.#sides.settled
    const { remote, terminal } = this.#sides
    if (remote) return remote.changeGoal?.(objective)
    if (!(await terminal?.changeGoal(objective))) {
      throw new Error('It cannot be typed at its terminal now: a dialog is open there, or it is too long. Take over on your phone first.')
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
