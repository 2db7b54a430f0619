import { withDeadline } from '../../async/deadline.ts'
import { newId } from '../../client/sealed/messages.ts'
import { titleOfPrompt } from '../../protocol/sealed/plain-line.ts'
import type { AgentEvent, TurnEnd } from '../agents/agent.ts'
import { idOfRow } from '../uplink/outbox.ts'
import { createInterruptions, type Interruptions } from './interruptions.ts'
import type { SessionParts } from './parts.ts'
import type { Prompt } from './queue.ts'
import type { WhyNot } from './requests/requests.ts'

/** The turns that the agent makes of what people say. */
export interface Turns {
  /** Whether one runs, and the step it is at. */
  readonly isRunning: boolean
  step: string | undefined
  /** Says to the agent what nobody said, and what is shown nowhere. False when it works, or something waits for it. */
  order(text: string): boolean
  /** Stops the turn that runs, or that is about to begin: then the agent is not given its prompt, or is stopped once it has it. */
  stop(): Promise<void>
  /** Why a person said no, or stopped the turn at that; see `Interruptions`. */
  explain(whyNot: WhyNot, how: { stops: boolean }): Promise<void>
  /** Written at the agent's own terminal. */
  hearTerminal(prompted: Extract<AgentEvent, { type: 'prompted' }>): Promise<void>
  /** Hands over one prompt after the other, each in a turn of its own; those up to `readUpTo` the agent has. */
  serve(readUpTo: number): Promise<void>
  /** The server numbers the messages anew: what waits has no number any more. */
  forgetNumbers(): void
  end(how: Extract<AgentEvent, { type: 'turn-ended' }>): Promise<void>
  /** Hands over nothing any more. */
  close(): void
  /** Resolves when the turn that runs has ended, at the latest after `ms`. */
  settle(ms: number): Promise<void>
}

export function createTurns(parts: SessionParts): Turns {
  return new SessionTurns(parts)
}

interface Turn extends PromiseWithResolvers<void> {
  /** By a person: its prompt, when the agent does not have it yet, shall never reach it. */
  isStopped: boolean
}

const longestFirst = 200
// What was said right before a stop may still be read from the server.
const heardWithinMs = 2_000
const laterThen = 'It will be sent with your next message, or when the session continues.'

class SessionTurns implements Turns {
  step: string | undefined
  readonly #parts: SessionParts
  readonly #interruptions: Interruptions
  #turn: Turn | undefined
  /** The one that is about to begin was stopped. */
  #isNextStopped = false
  #isEnding = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#interruptions = createInterruptions({ parts, isRunning: () => this.isRunning })
    parts.queue.onHeard(() => {
      if (this.#turn) void this.#interruptions.steer()
    })
  }

  get isRunning(): boolean {
    return this.#turn !== undefined
  }

  order(text: string): boolean {
    const { queue } = this.#parts
    if (this.#turn || queue.length > 0) return false
    queue.order(text)
    return true
  }

  async stop(): Promise<void> {
    const { agent, queue, uplink } = this.#parts
    if (!this.#turn) await withDeadline(heardWithinMs, async () => uplink?.caughtUp()).catch(() => {})
    if (this.#turn) this.#turn.isStopped = true
    else if (queue.hasNext) this.#isNextStopped = true
    await agent.cancel()
  }

  explain(whyNot: WhyNot, how: { stops: boolean }): Promise<void> {
    return this.#interruptions.explain(whyNot, how)
  }

  /** What a person wrote at the terminal is shown everywhere, and not handed to the agent again. */
  async hearTerminal({ text, isOurs, row }: Extract<AgentEvent, { type: 'prompted' }>): Promise<void> {
    const { cursor, narrator, queue } = this.#parts
    if (!isOurs) {
      this.#noteFirst(text)
      await queue.show(text, row === undefined ? newId() : idOfRow(row))
    }
    // One of ours that it seemed not to take, and has now after all, does not wait any more, and has its turn.
    const isNew = isOurs ? cursor.confirm() : true
    if (!isNew || this.#turn) return
    void this.#begin(isOurs ? 'phone' : 'terminal')
    cursor.beginLater(await narrator.beginTurn({ row }))
  }

  forgetNumbers(): void {
    this.#parts.queue.forgetNumbers()
    this.#parts.cursor.forgetNumbers()
  }

  async serve(readUpTo: number): Promise<void> {
    const { queue } = this.#parts
    for await (const prompt of queue.prompts({ ready: () => this.#turnEnded(), readUpTo })) {
      await this.#turnEnded()
      if (this.#isEnding) return
      const turn = this.#begin(prompt.seq === undefined ? 'terminal' : 'phone')
      turn.isStopped = this.#isNextStopped
      this.#isNextStopped = false
      const how = await this.#handOver(prompt, turn).catch(asFailure)
      if (how === 'given') await turn.promise
      else await this.#takeBack(prompt, turn, how)
    }
  }

  async end(how: Extract<AgentEvent, { type: 'turn-ended' }>): Promise<void> {
    const { narrator, cursor } = this.#parts
    if (how.isLost) await cursor.retell()
    await narrator.tell(how)
    cursor.end({ isDropped: this.#turn?.isStopped === true && !this.#isEnding })
    this.#over(how.reason)
  }

  close(): void {
    this.#isEnding = true
    this.#parts.queue.close()
  }

  async settle(ms: number): Promise<void> {
    await withDeadline(ms, async () => this.#turn?.promise).catch(() => {})
    this.#turn = undefined
  }

  #begin(from: 'phone' | 'terminal'): Turn {
    this.#parts.notices.turnBegan(from)
    this.#parts.modelWaits.turnBegan()
    this.#turn = { ...Promise.withResolvers<void>(), isStopped: false }
    this.#parts.uplink?.setThinking(true)
    return this.#turn
  }

  #over(reason: TurnEnd['reason']): void {
    this.step = undefined
    this.#parts.uplink?.setThinking(false)
    this.#parts.modelWaits.turnEnded()
    this.#parts.notices.turnEnded(reason, this.#parts.queue.length === 0)
    const turn = this.#turn
    this.#turn = undefined
    // Nothing is left of it to stop.
    if (turn) turn.isStopped = false
    turn?.resolve()
  }

  /** In the turn that has begun. Rejects with what kept the agent from being given it. */
  async #handOver(prompt: Prompt, turn: Turn): Promise<'given' | 'withdrawn' | 'stopped'> {
    const { agent, queue, cursor, folder, narrator, choices, attachments, onChange } = this.#parts
    const { meta } = prompt
    if (meta?.permissionMode) await agent.setMode(meta.permissionMode)
    await choices.apply(meta)
    const { text, images } = await attachments.join(prompt.text, prompt.attachments)
    if (queue.isWithdrawn(prompt)) return 'withdrawn'
    if (turn.isStopped) return 'stopped'
    this.#noteFirst(text)
    const name = newId()
    cursor.begin(prompt, text, name)
    await narrator.beginTurn({ name })
    await folder.noted()
    if (turn.isStopped) return 'stopped'
    if (!(await agent.prompt(text, images))) throw new Error()
    // Only now: a prompt that the agent does not have yet must come again after a crash, and one it has must not. At its
    // own terminal it has it when it has written it down.
    if (cursor.writesDown) queue.given(prompt)
    else queue.read(prompt)
    onChange()
    if (turn.isStopped) void agent.cancel()
    else void this.#interruptions.steer()
    return 'given'
  }

  /** The agent was not given it. */
  async #takeBack(prompt: Prompt, turn: Turn, how: 'withdrawn' | 'stopped' | { error: string }): Promise<void> {
    const { queue, folder, narrator } = this.#parts
    const isBack = !turn.isStopped && typeof how === 'object' && queue.putBack(prompt)
    if (!isBack) queue.drop(prompt)
    const isFailed = isBack && !this.#isEnding
    const isTold = folder.notes.turn !== null
    if (!isTold && !isFailed && !turn.isStopped) return this.#over('cancelled')
    if (!isTold) await narrator.beginTurn()
    await this.end({ type: 'turn-ended', ...(isFailed ? { reason: 'failed', ...how } : { reason: 'cancelled' }) })
  }

  /** What to call the session by until it has a title. */
  #noteFirst(text: string): void {
    const { folder, uplink } = this.#parts
    const title = titleOfPrompt(text)
    if (folder.notes.firstPrompt !== undefined || title === undefined) return
    folder.note({ firstPrompt: text.slice(0, longestFirst) })
    const summary = { text: title, updatedAt: Date.now() }
    uplink?.changeMetadata(metadata => (metadata.summary ? metadata : { ...metadata, summary }))
  }

  /** Also of one that began at the terminal. */
  async #turnEnded(): Promise<void> {
    do {
      while (this.#turn) await this.#turn.promise
      await this.#interruptions.settled()
    } while (this.#turn)
  }
}

function asFailure(error: unknown): { error: string } {
  const why = error instanceof Error ? error.message : String(error)
  return { error: `The agent could not be given this message${why === '' ? '' : `: ${why}`}. ${laterThen}` }
}
