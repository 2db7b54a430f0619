import { withDeadline } from '../async/deadline.ts'
import { envelopeOf, newId, userText } from '../client/messages.ts'
import type { Envelope, MessageBody, MessageMeta } from '../protocol/sealed/messages.ts'
import type { AgentEvent } from './agents/agent.ts'
import type { WhyNot } from './decisions.ts'
import { idOfRow } from './narrator.ts'
import { createPrompts, type Prompt, type Prompts } from './prompts.ts'
import { type Reason, reasonOf, withReason } from './reasons.ts'
import { retell } from './recount.ts'
import type { SessionNotes } from './session-folder.ts'
import type { SessionParts } from './session-parts.ts'
import { createSettling, type Settling } from './settling.ts'

/** What people say in a session, and the turns that the agent makes of it. */
export interface Turns {
  /** Whether one runs, and the step it is at. */
  readonly isRunning: boolean
  step: string | undefined
  /** Prompts that wait for the turn of now to end. */
  readonly queued: number
  /** Said at this terminal, which is not the agent's own. */
  say(text: string): Promise<void>
  /** Why a person said no, or stopped the turn at that: heard in this turn by an agent that can, else the first thing in the next. */
  explain(whyNot: WhyNot, how: { stops: boolean }): void
  /** Said, told or withdrawn on a device. */
  hear(body: MessageBody, about: { seq: number; localId: string | null }): void
  /** Written at the agent's own terminal. */
  hearTerminal(prompted: Extract<AgentEvent, { type: 'prompted' }>): Promise<void>
  /** Hands over one prompt after the other, each in a turn of its own; those up to `recountedUpTo` the agent has. */
  serve(recountedUpTo: number): Promise<void>
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
const notGiven = {
  reason: 'failed',
  error: 'The agent could not be given this message. It is given it with your next one, or when the session goes on.'
} as const
const steerWithinMs = 10_000

class SessionTurns implements Turns {
  step: string | undefined
  readonly #parts: SessionParts
  readonly #prompts: Prompts
  readonly #ownMessages = new Set<string>()
  readonly #settling: Settling
  #turn: PromiseWithResolvers<void> | undefined
  /** Settles when it is clear whether the turn takes a reason in: until then nothing that waits is handed over. */
  #explaining = Promise.resolve()
  /** Read by the agent from what it wrote down: noted in one step with the place up to which that was told. */
  #unnoted: Partial<SessionNotes> = {}
  /** An earlier process of this session did not come to hand them over. */
  readonly #leftReasons: readonly Reason[]
  #isEnding = false

  constructor(parts: SessionParts) {
    this.#parts = parts
    this.#leftReasons = parts.folder.notes.reasons ?? []
    this.#prompts = createPrompts(
      () => parts.folder.notes,
      () => this.#turnEnded()
    )
    const { folder, keeping } = parts
    this.#settling = createSettling({ folder, keeping, uplink: () => parts.uplink }, this.#prompts)
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

  explain(whyNot: WhyNot, how: { stops: boolean }): void {
    const { agent, folder } = this.#parts
    if (!how.stops && agent.hearsReasons) return
    const reason = reasonOf(whyNot, how)
    folder.note(withReason(folder.notes, reason))
    if (how.stops) this.#sayFirst(reason)
    if (how.stops) return
    const steered = withDeadline(steerWithinMs, async () => agent.steer?.(whyNot.reason)).catch(() => false)
    this.#explaining = steered.then(isHeard => (isHeard ? this.#settling.drop(reason) : this.#sayFirst(reason)))
  }

  hear(body: MessageBody, { seq, localId }: { seq: number; localId: string | null }): void {
    if (body.role === 'session') this.#hearEnvelope(envelopeOf(body))
    if (body.role !== 'user') return
    if (localId !== null && this.#ownMessages.delete(localId)) return
    // An earlier process of this session told what was written at its terminal; the agent has it.
    if (body.meta?.sentFrom === 'cli') return
    const { meta } = body
    const prompt = { text: body.content.text, meta, seq, localId }
    const isKnown = this.#parts.folder.notes.settled?.includes(seq)
    if (isKnown || meta?.replaces === undefined || !this.#prompts.replace(prompt)) this.#offer(prompt, isKnown)
    if (this.#turn) void this.#makeWay()
    this.#parts.onChange()
  }

  /** What a person wrote at the terminal is shown everywhere, and not handed to the agent again. */
  async hearTerminal({ text, isOurs, row }: Extract<AgentEvent, { type: 'prompted' }>): Promise<void> {
    if (isOurs) return this.#noteHanded()
    this.#noteFirst(text)
    await this.#tell(text, row === undefined ? newId() : idOfRow(row))
    if (this.#turn) return
    void this.#begin('terminal')
    this.#unnoted = { ...this.#unnoted, turn: await this.#parts.narrator.beginTurn({ row }) }
  }

  async serve(recountedUpTo: number): Promise<void> {
    const { agent, folder, narrator, choices, attachments: came, onChange } = this.#parts
    for (const reason of this.#leftReasons) if (folder.notes.reasons?.includes(reason)) this.#sayFirst(reason)
    for await (const prompt of this.#prompts) {
      const { text: written, attachments, meta, seq, localId } = prompt
      await this.#turnEnded()
      if (this.#isEnding) return
      // It was heard before it was found in what the agent had written down.
      if (seq !== undefined && seq <= recountedUpTo) {
        this.#offerLate(prompt)
        continue
      }
      const ended = this.#begin(seq === undefined ? 'terminal' : 'phone')
      if (meta?.permissionMode) await agent.setMode(meta.permissionMode)
      await choices.apply(meta)
      const { text, images } = await came.join(written, attachments)
      this.#noteFirst(text)
      const turn = newId()
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
      if (!(await agent.prompt(text, images))) {
        this.#prompts.putBack(prompt)
        await this.end({ type: 'turn-ended', ...(this.#isEnding ? { reason: 'cancelled' } : notGiven) })
        continue
      }
      // Only now: a prompt that the agent does not have yet must come again after a crash, and one it has must not. At its
      // own terminal it has it when it has written it down.
      if (!this.#writesDown) this.#settling.read(prompt)
      onChange()
      void this.#makeWay()
      await ended
    }
  }

  async end(how: Extract<AgentEvent, { type: 'turn-ended' }>): Promise<void> {
    const { narrator, notices, uplink } = this.#parts
    if (how.isLost) await this.readBack()
    await narrator.tell(how)
    // A prompt that was typed, and of which nothing was written down, is handed over again by the next process.
    this.note({ turn: null, turnAt: null, ...(!this.#writesDown && { handing: null }) })
    this.step = undefined
    uplink?.setThinking(false)
    notices.turnEnded(how.reason, this.#prompts.length === 0)
    this.#turn?.resolve()
    this.#turn = undefined
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

  /** What it is given is with it once it has written it down, and not before. */
  get #writesDown(): boolean {
    const { agent } = this.#parts
    return agent.writesDown ?? agent.handover?.by === 'terminal'
  }

  /** What to call the session by until it has a title. */
  #noteFirst(text: string): void {
    const { folder } = this.#parts
    if (folder.notes.firstPrompt === undefined) folder.note({ firstPrompt: text.slice(0, mostHanded) })
  }

  /** What devices tell beside texts. */
  #hearEnvelope(envelope: Envelope | undefined): void {
    if (envelope?.role !== 'user') return
    const { ev } = envelope
    if (ev.t === 'file') this.#prompts.announce(ev)
    if (ev.t === 'move') this.#prompts.move(ev.localId, ev.before)
    if (ev.t !== 'withdraw') return
    const withdrawn = this.#prompts.withdraw(ev.localId)
    if (withdrawn) this.#settling.drop(withdrawn)
    else this.#settling.tellIfRead(ev.localId)
    this.#parts.onChange()
  }

  /** For a prompt that does not wait: the turn that runs takes it in, or ends. */
  async #makeWay(): Promise<void> {
    if (!this.#prompts.isUrgent) return
    const { agent, decisions, questions, choices } = this.#parts
    const isAsking = decisions.open.length + questions.open.length > 0
    const prompt = agent.steer && !isAsking ? this.#prompts.takeUrgent() : undefined
    if (!prompt) return agent.cancel()
    await choices.apply(prompt.meta)
    if (await agent.steer?.(prompt.text)) return this.#settling.read(prompt)
    this.#prompts.offer(prompt)
    await agent.cancel()
  }

  /** One that waits by itself. To bring forward what is not waiting any more would say it twice. */
  #offer(prompt: Omit<Prompt, 'attachments'>, isKnown?: boolean): void {
    const { meta, localId } = prompt
    const isLate = meta?.replaces !== undefined && !isKnown
    if (isLate && meta.steer) this.#settling.drop(prompt)
    else this.#prompts.offer(prompt)
    if (isLate && !meta.steer && localId !== null) this.#settling.tellApart(localId)
  }

  /** The agent has it as it was first: what replaced its words since is said to it now. */
  #offerLate({ edits = [], attachments, ...prompt }: Prompt): void {
    const last = edits.at(-1)
    if (!last) return
    for (const each of attachments) this.#prompts.announce(each)
    this.#offer({ ...prompt, ...last })
  }

  /** Also of one that began at the terminal. */
  async #turnEnded(): Promise<void> {
    while (this.#turn) await this.#turn.promise
    await this.#explaining
  }

  /** What was said here is shown everywhere. */
  #tell(text: string, localId: string, meta: MessageMeta = {}): Promise<void> {
    this.#ownMessages.add(localId)
    return this.#parts.keeping.keep(userText(text, { sentFrom: 'cli', ...meta }), localId)
  }

  /** Also of an earlier process: by its local id the server knows whether it has it. */
  #sayFirst(reason: Reason): void {
    void this.#tell(reason.text, reason.localId, { isReason: true })
    this.#prompts.offerReason(reason)
    this.#parts.onChange()
  }

  #begin(from: 'phone' | 'terminal'): Promise<void> {
    this.#parts.notices.turnBegan(from)
    this.#turn = Promise.withResolvers()
    this.#parts.uplink?.setThinking(true)
    return this.#turn.promise
  }

  /** The agent has the prompt that was being handed to it. */
  #noteHanded(): void {
    const { notes } = this.#parts.folder
    const { seq, localId = null, edits } = notes.handing ?? {}
    const handed = { seq: seq ?? undefined, localId, edits: edits?.map(seq => ({ seq })) }
    const settled = this.#settling.of({ ...notes, ...this.#unnoted }, handed)
    this.#unnoted = { ...this.#unnoted, handing: null, ...settled }
    if (settled.cursor !== undefined) this.#settling.tellRead(handed, settled.cursor)
  }
}
