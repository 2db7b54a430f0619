import { withDeadline } from '../../async/deadline.ts'
import { newId } from '../../client/sealed/messages.ts'
import { titleOfPrompt } from '../../protocol/sealed/plain-line.ts'
import type { AgentEvent, TurnEnd } from '../agents/agent.ts'
import { idOfRow } from '../uplink/outbox.ts'
import { createInterruptions, type Interruptions } from './interruptions.ts'
import type { SessionParts } from './parts.ts'
import type { Prompt } from './queue.ts'
import type { WhyNot } from './requests/requests.ts'

/** The turns of the agent, made from prompts. */
export interface Turns {
  /** Whether one runs, and its current step. */
  readonly isRunning: boolean
  step: string | undefined
  /** Sends the agent a text that is not from a person and is not shown. False if the agent is working or a prompt is queued. */
  instruct(text: string): boolean
  /** Stops the running turn, or one about to begin: the agent does not get its prompt, or is stopped once it has it. */
  stop(): Promise<void>
  /** The reason for a denial, or for stopping the turn; see `Interruptions`. */
  explain(whyNot: WhyNot, how: { stops: boolean }): Promise<void>
  /** Typed at the agent's own terminal. */
  hearTerminal(prompted: Extract<AgentEvent, { type: 'prompted' }>): Promise<void>
  /** Hands over one prompt after the other, each in its own turn; the agent has those up to `readUpTo`. */
  serve(readUpTo: number): Promise<void>
  /** The server renumbers the messages: queued prompts lose their numbers. */
  forgetNumbers(): void
  end(how: Extract<AgentEvent, { type: 'turn-ended' }>): Promise<void>
  /** Hands over no more prompts. */
  close(): void
  /** Resolves when the running turn has ended, at the latest after `ms`. */
  settle(ms: number): Promise<void>
}

export function createTurns(parts: SessionParts): Turns {
  return new SessionTurns(parts)
}

interface Turn extends PromiseWithResolvers<void> {
  /** Stopped by a person: if the agent does not have the prompt yet, it must never get it. */
  isStopped: boolean
}

/** Why a prompt did not reach the agent; `error` is the sentence shown. */
type NotGiven = 'withdrawn' | 'stopped' | { error: string }

const longestFirst = 200
// A prompt sent right before a stop may still be on its way from the server.
const heardWithinMs = 2_000
const laterThen = 'It will be sent with your next message, or when the session continues.'

class SessionTurns implements Turns {
  step: string | undefined
  readonly #parts: SessionParts
  readonly #interruptions: Interruptions
  #turn: Turn | undefined
  /** The turn about to begin was stopped. */
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

  instruct(text: string): boolean {
    const { queue } = this.#parts
    if (this.#turn || queue.length > 0) return false
    queue.instruct(text)
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

  /** Text typed at the terminal is shown everywhere, and not handed to the agent again. */
  async hearTerminal({ text, isOurs, row }: Extract<AgentEvent, { type: 'prompted' }>): Promise<void> {
    const { cursor, narrator, queue } = this.#parts
    if (!isOurs) {
      this.#noteFirst(text)
      await queue.show(text, row === undefined ? newId() : idOfRow(row))
    }
    // A prompt of ours that the agent seemed to reject and has accepted after all is no longer waiting, and gets its turn.
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
      const handedOver = await this.#handOver(prompt, turn).catch(failedFor)
      if (handedOver === 'given') await turn.promise
      else await this.#endEmptyTurn(prompt, turn, handedOver)
    }
  }

  async end(how: Extract<AgentEvent, { type: 'turn-ended' }>): Promise<void> {
    const { narrator, cursor } = this.#parts
    if (how.isLost) await cursor.resendTurn()
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
    // Nothing is left to stop.
    if (turn) turn.isStopped = false
    turn?.resolve()
  }

  /** Gives it to the agent in the turn that has begun. Also rejects if the agent could not be given it. */
  async #handOver(prompt: Prompt, turn: Turn): Promise<'given' | NotGiven> {
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
    if (!(await agent.prompt(text, images))) return failedFor()
    // Only now: after a crash, a prompt must be handed over again if the agent does not have it, and must not be if it has. At its
    // own terminal the agent has it once it is in its history.
    if (cursor.writesDown) queue.given(prompt)
    else queue.read(prompt)
    onChange()
    if (turn.isStopped) void agent.cancel()
    else void this.#interruptions.steer()
    return 'given'
  }

  /** The agent was not given the prompt: it waits for the next message if that failed, and is dropped otherwise. */
  async #endEmptyTurn(prompt: Prompt, turn: Turn, why: NotGiven): Promise<void> {
    const { queue, folder, narrator } = this.#parts
    const isHeldBack = !turn.isStopped && typeof why === 'object' && queue.holdBack(prompt)
    if (!isHeldBack) queue.drop(prompt)
    const isFailed = isHeldBack && !this.#isEnding
    const hasBegun = folder.notes.turn !== null
    if (!hasBegun && !isFailed && !turn.isStopped) return this.#over('cancelled')
    if (!hasBegun) await narrator.beginTurn()
    await this.end({ type: 'turn-ended', ...(isFailed ? { reason: 'failed', ...why } : { reason: 'cancelled' }) })
  }

  /** A name for the session until it has a title. */
  #noteFirst(text: string): void {
    const { folder, uplink } = this.#parts
    const title = titleOfPrompt(text)
    if (folder.notes.firstPrompt !== undefined || title === undefined) return
    folder.note({ firstPrompt: text.slice(0, longestFirst) })
    const summary = { text: title, updatedAt: Date.now() }
    uplink?.changeMetadata(metadata => (metadata.summary ? metadata : { ...metadata, summary }))
  }

  /** Also for a turn that began at the terminal. */
  async #turnEnded(): Promise<void> {
    do {
      while (this.#turn) await this.#turn.promise
      await this.#interruptions.settled()
    } while (this.#turn)
  }
}

function failedFor(error: unknown = ''): { error: string } {
  const why = error instanceof Error ? error.message : String(error)
  return { error: `This message could not be passed to the agent${why === '' ? '' : `: ${why}`}. ${laterThen}` }
}
