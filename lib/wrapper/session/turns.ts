import { withDeadline } from '../../async/deadline.ts'
import { envelopeOf, newId, newUserText } from '../../client/sealed/messages.ts'
import type { MessageBody, MessageMeta } from '../../protocol/sealed/messages.ts'
import { titleOfPrompt } from '../../protocol/sealed/plain-line.ts'
import type { AgentEvent, TurnEnd } from '../agents/agent.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import { idOfRow } from '../uplink/outbox.ts'
import { createExplaining, type Explaining } from './explaining.ts'
import { createOffering, type Offering } from './offering.ts'
import type { SessionParts } from './parts.ts'
import { createPrompts, type Prompt, type Prompts } from './prompts.ts'
import { retell } from './recount.ts'
import type { WhyNot } from './requests/requests.ts'
import { createSettling, type Settling } from './settling.ts'
import { createSteering, type Steering } from './steering.ts'
import { createStopping, type Stopping } from './stopping.ts'

/** What people say in a session, and the turns that the agent makes of it. */
export interface Turns {
  /** Whether one runs, and the step it is at. */
  readonly isRunning: boolean
  step: string | undefined
  /** Prompts that wait for the turn of now to end. */
  readonly queued: number
  /** Said at this terminal, which is not the agent's own. */
  say(text: string): Promise<void>
  /** Says to the agent what nobody said, and what is shown nowhere. False when it works, or something waits for it. */
  order(text: string): boolean
  /** Stops the turn that runs, or that is about to begin. */
  stop(): Promise<void>
  /** Why a person said no, or stopped the turn at that; see `Explaining`. */
  explain(whyNot: WhyNot, how: { stops: boolean }): Promise<void>
  /** Said, told or withdrawn on a device. */
  hear(body: MessageBody, about: { seq: number; localId: string | null }): void
  /** Said by nobody here: the agent never shall have it. */
  leaveOut(message: { seq: number; localId: string | null }): void
  /** Written at the agent's own terminal. */
  hearTerminal(prompted: Extract<AgentEvent, { type: 'prompted' }>): Promise<void>
  /** Hands over one prompt after the other, each in a turn of its own; those up to `recountedUpTo` the agent has. */
  serve(recountedUpTo: number): Promise<void>
  /** The server numbers the messages anew: what waits has no number any more. */
  forgetNumbers(): void
  end(how: Extract<AgentEvent, { type: 'turn-ended' }>): Promise<void>
  /** Tells what an agent that is gone wrote down of the turn and did not say. Resolves to its texts. */
  readBack(): Promise<string[]>
  /** Notes it in one step with what was read from what the agent writes down. */
  note(changes: Partial<SessionNotes>): void
  /** Hands over nothing any more. */
  close(): void
  /** Resolves when the turn that runs has ended, at the latest after `ms`. */
  settle(ms: number): Promise<void>
}

export function createTurns(parts: SessionParts): Turns {
  return new SessionTurns(parts)
}

const mostHanded = 200
const laterThen = 'It will be sent with your next message, or when the session continues.'

class SessionTurns implements Turns {
  step: string | undefined
  readonly #parts: SessionParts
  readonly #prompts: Prompts
  readonly #ownMessages = new Set<string>()
  readonly #settling: Settling
  readonly #steering: Steering
  readonly #explaining: Explaining
  readonly #stopping: Stopping
  readonly #offering: Offering
  #turn: PromiseWithResolvers<void> | undefined
  /** Read by the agent from what it wrote down: noted in one step with the place up to which that was told. */
  #unnoted: Partial<SessionNotes> = {}
  #isEnding = false
  #recountedUpTo = 0

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#prompts = createPrompts(
      () => parts.folder.notes,
      () => this.#turnEnded()
    )
    const { folder, keeping } = parts
    this.#settling = createSettling({ folder, keeping, uplink: () => parts.uplink }, this.#prompts)
    const deps = { parts, prompts: this.#prompts, settling: this.#settling, isRunning: () => this.isRunning }
    this.#steering = createSteering(deps)
    this.#explaining = createExplaining({ ...deps, show: ({ text, localId }) => void this.#tell(text, localId, { isReason: true }) })
    this.#stopping = createStopping(deps)
    this.#offering = createOffering(this.#prompts, this.#settling)
  }

  get isRunning(): boolean {
    return this.#turn !== undefined
  }

  get queued(): number {
    return this.#prompts.length
  }

  async say(text: string): Promise<void> {
    const localId = newId()
    await this.#tell(text, localId)
    this.#prompts.offer({ text, meta: undefined, seq: undefined, localId })
    this.#parts.onChange()
  }

  order(text: string): boolean {
    if (this.#turn || this.#prompts.length > 0) return false
    this.#prompts.offer({ text, meta: undefined, seq: undefined, localId: newId() })
    return true
  }

  stop(): Promise<void> {
    return this.#stopping.stop()
  }

  explain(whyNot: WhyNot, how: { stops: boolean }): Promise<void> {
    return this.#explaining.explain(whyNot, how)
  }

  hear(body: MessageBody, { seq, localId }: { seq: number; localId: string | null }): void {
    if (body.role === 'session') this.#offering.hearBeside(envelopeOf(body))
    if (body.role === 'session') this.#parts.onChange()
    if (body.role !== 'user') return
    if (localId !== null && this.#ownMessages.delete(localId)) return
    // An earlier process of this session told what was written at its terminal; the agent has it.
    if (body.meta?.sentFrom === 'cli') return
    const { meta } = body
    const prompt = { text: body.content.text, meta, seq, localId }
    const isKnown = this.#parts.folder.notes.settled?.includes(seq)
    if (isKnown || meta?.replaces === undefined || !this.#prompts.replace(prompt)) this.#offering.offer(prompt, isKnown)
    if (this.#turn) void this.#steering.makeWay()
    this.#parts.onChange()
  }

  leaveOut(message: { seq: number; localId: string | null }): void {
    this.#settling.drop(message)
  }

  /** What a person wrote at the terminal is shown everywhere, and not handed to the agent again. */
  async hearTerminal({ text, isOurs, row }: Extract<AgentEvent, { type: 'prompted' }>): Promise<void> {
    if (isOurs) return this.#noteHanded(row)
    this.#noteFirst(text)
    await this.#tell(text, row === undefined ? newId() : idOfRow(row))
    if (this.#turn) return
    void this.#begin('terminal')
    this.#unnoted = { ...this.#unnoted, turn: await this.#parts.narrator.beginTurn({ row }) }
  }

  forgetNumbers(): void {
    this.#recountedUpTo = 0
    this.#prompts.forgetNumbers()
    const { cursor: _, settled: __, ...unnoted } = this.#unnoted
    this.#unnoted = unnoted
  }

  async serve(recountedUpTo: number): Promise<void> {
    this.#recountedUpTo = recountedUpTo
    this.#explaining.sayLeft()
    for await (const prompt of this.#prompts) {
      await this.#turnEnded()
      if (this.#isEnding) return
      const { seq } = prompt
      // It was heard before it was found in what the agent had written down.
      if (seq !== undefined && seq <= this.#recountedUpTo) {
        this.#prompts.done(prompt)
        this.#offering.offerLate(prompt)
        continue
      }
      const ended = this.#begin(seq === undefined ? 'terminal' : 'phone')
      this.#stopping.begin()
      const how = await this.#handOver(prompt).catch(asFailure)
      if (how === 'given') await ended
      else await this.#takeBack(prompt, how)
    }
  }

  async end(how: Extract<AgentEvent, { type: 'turn-ended' }>): Promise<void> {
    const { narrator } = this.#parts
    if (how.isLost) await this.readBack()
    await narrator.tell(how)
    // A prompt that was typed, and of which nothing was written down, is handed over again by the next process.
    const isDropped = this.#stopping.isStopped && !this.#isEnding
    if (isDropped) this.#dropHanding()
    this.note({ turn: null, turnAt: null, ...((isDropped || !this.#writesDown) && { handing: null }) })
    this.#over(how.reason)
  }

  async readBack(): Promise<string[]> {
    const { folder, keeping } = this.#parts
    return retell(folder.notes, (body, localId) => keeping.keep(body, localId))
  }

  note(changes: Partial<SessionNotes>): void {
    this.#parts.folder.note({ ...this.#unnoted, ...changes })
    this.#unnoted = {}
  }

  close(): void {
    this.#isEnding = true
    this.#prompts.close()
  }

  async settle(ms: number): Promise<void> {
    await withDeadline(ms, async () => this.#turn?.promise).catch(() => {})
    this.#turn = undefined
  }

  #over(reason: TurnEnd['reason']): void {
    this.#stopping.end()
    this.step = undefined
    this.#parts.uplink?.setThinking(false)
    this.#parts.modelWaits.turnEnded()
    this.#parts.notices.turnEnded(reason, this.#prompts.length === 0)
    this.#turn?.resolve()
    this.#turn = undefined
  }

  /** In the turn that has begun. Rejects with what kept the agent from being given it. */
  async #handOver(prompt: Prompt): Promise<'given' | 'withdrawn' | 'stopped'> {
    const { agent, folder, narrator, choices, attachments: came, onChange } = this.#parts
    const { text: written, attachments, meta, localId } = prompt
    if (meta?.permissionMode) await agent.setMode(meta.permissionMode)
    await choices.apply(meta)
    const { text, images } = await came.join(written, attachments)
    if (this.#prompts.dropWithdrawn(prompt)) return 'withdrawn'
    if (this.#stopping.isStopped) return 'stopped'
    this.#noteFirst(text)
    const turn = newId()
    const { seq } = prompt
    // At its own terminal it may keep the prompt before it says so.
    const isAhead = seq !== undefined && this.#prompts.settled(folder.notes, seq).settled?.includes(seq)
    const turnAt = agent.writesAt?.() ?? null
    const edits = prompt.edits?.map(edit => edit.seq)
    const handing = (agent.handover || turnAt || this.#writesDown) && {
      seq: seq ?? null,
      localId,
      text: text.slice(0, mostHanded),
      isAhead,
      ...(edits && { edits })
    }
    folder.note({ turn, turnAt, ...(handing && { handing }) })
    await narrator.beginTurn({ name: turn })
    // After a crash it has to be known that the agent may have it.
    await folder.noted()
    if (this.#stopping.isStopped) return 'stopped'
    if (!(await agent.prompt(text, images))) throw new Error()
    // Only now: a prompt that the agent does not have yet must come again after a crash, and one it has must not. At its
    // own terminal it has it when it has written it down.
    this.#prompts.done(prompt)
    if (!this.#writesDown) this.#settling.read(prompt)
    onChange()
    if (this.#stopping.isStopped) void agent.cancel()
    else void this.#steering.makeWay()
    return 'given'
  }

  /** The agent was not given it. */
  async #takeBack(prompt: Prompt, how: 'withdrawn' | 'stopped' | { error: string }): Promise<void> {
    const { isStopped } = this.#stopping
    if (isStopped) this.#prompts.done(prompt)
    const isBack = !isStopped && typeof how === 'object' && this.#prompts.putBack(prompt)
    if (!isBack) this.#settling.drop(prompt)
    const isFailed = isBack && !this.#isEnding
    const { folder, narrator } = this.#parts
    const isTold = folder.notes.turn !== null
    if (!isTold && !isFailed && !isStopped) return this.#over('cancelled')
    if (!isTold) await narrator.beginTurn()
    await this.end({ type: 'turn-ended', ...(isFailed ? { reason: 'failed', ...how } : { reason: 'cancelled' }) })
  }

  /** What it is given is with it once it has written it down, and not before. */
  get #writesDown(): boolean {
    const { agent } = this.#parts
    return agent.writesDown ?? agent.handover?.by === 'terminal'
  }

  /** The agent was stopped before it had written down what it was given, and never shall have it. */
  #dropHanding(): void {
    const { seq, localId = null, edits } = this.#parts.folder.notes.handing ?? {}
    if (seq != null) this.#settling.drop({ seq, localId, edits: edits?.map(seq => ({ seq })) })
  }

  /** What to call the session by until it has a title. */
  #noteFirst(text: string): void {
    const { folder, uplink } = this.#parts
    const title = titleOfPrompt(text)
    if (folder.notes.firstPrompt !== undefined || title === undefined) return
    folder.note({ firstPrompt: text.slice(0, mostHanded) })
    const summary = { text: title, updatedAt: Date.now() }
    uplink?.changeMetadata(metadata => (metadata.summary ? metadata : { ...metadata, summary }))
  }

  /** Also of one that began at the terminal. */
  async #turnEnded(): Promise<void> {
    do {
      while (this.#turn) await this.#turn.promise
      await Promise.all([this.#steering.clear(), this.#explaining.clear()])
    } while (this.#turn)
  }

  /** What was said here is shown everywhere. */
  #tell(text: string, localId: string, meta: MessageMeta = {}): Promise<void> {
    this.#ownMessages.add(localId)
    return this.#parts.keeping.keep(newUserText(text, { sentFrom: 'cli', ...meta }), localId)
  }

  #begin(from: 'phone' | 'terminal'): Promise<void> {
    this.#parts.notices.turnBegan(from)
    this.#parts.modelWaits.turnBegan()
    this.#turn = Promise.withResolvers()
    this.#parts.uplink?.setThinking(true)
    return this.#turn.promise
  }

  /** The agent has the prompt that was being handed to it; one that it seemed not to take does not wait any more, and has its turn. */
  async #noteHanded(row: string | undefined): Promise<void> {
    const { folder, narrator } = this.#parts
    const { notes } = folder
    const { seq, localId = null, edits } = notes.handing ?? {}
    const isLate = localId !== null && this.#prompts.withdraw(localId) !== undefined
    const handed = { seq: seq ?? undefined, localId, edits: edits?.map(seq => ({ seq })) }
    const settled = this.#settling.of({ ...notes, ...this.#unnoted }, handed)
    this.#unnoted = { ...this.#unnoted, handing: null, ...settled }
    if (settled.cursor !== undefined) this.#settling.tellRead(handed, settled.cursor)
    if (!isLate || this.#turn) return
    void this.#begin('phone')
    this.#unnoted = { ...this.#unnoted, turn: await narrator.beginTurn({ row }) }
  }
}

function asFailure(error: unknown): { error: string } {
  const why = error instanceof Error ? error.message : String(error)
  return { error: `The agent could not be given this message${why === '' ? '' : `: ${why}`}. ${laterThen}` }
}
