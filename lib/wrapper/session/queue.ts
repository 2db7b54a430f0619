import { envelopeOf, newEnvelope, newId, newSessionMessage, newUserText } from '../../client/sealed/messages.ts'
import type { Envelope, MessageBody, MessageMeta } from '../../protocol/sealed/messages.ts'
import type { Announced } from '../agents/attachments.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import { idOfRow } from '../uplink/outbox.ts'
import type { Uplink } from '../uplink/uplink.ts'
import type { WhyNot } from './requests/requests.ts'

/** A person's message, with the ids that track its state. */
interface Said {
  readonly localId: string | null
  /** Undefined if it was typed at this terminal. */
  readonly seq?: number | undefined
  /** The messages that replaced its text, in order; it keeps its own place and id. */
  readonly edits?: readonly { readonly seq: number }[] | undefined
  /** The text, if fully known. */
  readonly text?: string
}

export interface Prompt {
  text: string
  meta: MessageMeta | undefined
  /** Attachments sent before it, which belong to it. */
  attachments: readonly Announced[]
  /** Undefined if it was typed at this terminal. */
  seq: number | undefined
  localId: string | null
  /** The reason for a denial or a stop. */
  isReason?: boolean
  edits?: readonly { readonly seq: number; readonly localId: string | null }[]
}

/** The reason for a denial or a stop, in words for the agent. On disk until the agent has it, since no one would repeat it. */
type Reason = NonNullable<SessionNotes['reasons']>[number]

/**
 * The prompts of people and their states. There is one reader.
 *
 * | from    | to      | when                                                                              |
 * | ------- | ------- | --------------------------------------------------------------------------------- |
 * |         | waiting | `say`, `instruct`, `sayReason`; `hear`: a device sent it                             |
 * | waiting | waiting | `hear`: a device moved it, or replaced its text                                   |
 * | waiting | dropped | `hear`: a device withdrew it                                                      |
 * | waiting | taken   | `prompts`, `takeUrgent`: it is being handed to the agent                          |
 * | waiting | read    | `confirm`: the agent got it, although it seemed to reject it                      |
 * | taken   | waiting | `putBack`, `holdBack`: the agent did not get it; not if it was withdrawn meanwhile |
 * | taken   | given   | `given`: the agent got it, and has not reported yet that it read it               |
 * | taken   | read    | `read`                                                                            |
 * | taken   | dropped | `drop`: the agent must never get it                                               |
 * | given   | read    | `confirm`: the agent reports it                                                   |
 * | given   | dropped | `drop`: the agent was stopped before it read it                                   |
 *
 * Read and dropped prompts are noted on disk, so that no later process hands them over, and devices are told which were read.
 * After a crash the others come again: messages of devices from the server, reasons from the notes.
 */
export interface Queue {
  /** How many are waiting. */
  readonly length: number
  /** Whether a prompt is taken, or would be taken immediately while no turn runs. */
  readonly hasNext: boolean
  /** Whether the next prompt ends the running turn instead of waiting for it. */
  readonly isUrgent: boolean

  /** Typed at this terminal, outside the agent's own screen. Shown everywhere. */
  say(text: string): Promise<void>
  /** From Afield rather than a person, and not shown. */
  instruct(text: string): void
  /** Already given to the agent: shown everywhere. */
  show(text: string, localId: string): Promise<void>
  /** A device sent, edited, moved or withdrew a message. */
  hear(body: MessageBody, about: { seq: number; localId: string | null }): void
  /** `listener` is called when a device has sent something. One at a time. */
  onHeard(listener: () => void): void
  /** Stored on disk before it is acted on. */
  noteReason(whyNot: WhyNot, how: { stops: boolean }): Reason
  /** Shown everywhere, and queued before all prompts, but after earlier reasons. */
  sayReason(reason: Reason): void

  /** Yields prompts in order, once `ready` resolves; skips those up to `readUpTo`, which the agent is known to have. */
  prompts(options: { ready(): Promise<void>; readUpTo: number }): AsyncIterable<Prompt>
  /** Takes the next prompt if it is urgent and has no attachments. */
  takeUrgent(): Prompt | undefined
  /** Whether it was withdrawn since it was taken. */
  isWithdrawn(prompt: Prompt): boolean
  /** Whether an earlier one is still waiting or taken. */
  isAhead(prompt: Prompt): boolean

  /** The agent was given it, and reports itself when it has read it. */
  given(prompt: Prompt): void
  /** The agent has it. */
  read(prompt: Prompt): void
  /** The agent must never get it. */
  drop(message: Said): void
  /**
   * The agent reports that it has it, even if it seemed to reject it. `notes` will be stored with it; resolves to further notes to store,
   * and whether it was still waiting.
   */
  confirm(message: Said, notes: SessionNotes): { changes: Partial<SessionNotes>; isLate: boolean }
  /** Puts it back at the front with its attachments; false if it was withdrawn meanwhile and must be dropped. */
  putBack(prompt: Prompt): boolean
  /** The same, and nothing is handed over until a prompt is added, moved or removed: the agent could not be given it. */
  holdBack(prompt: Prompt): boolean

  /** The server renumbers the messages. */
  forgetNumbers(): void
  /** Yields no more prompts. */
  close(): void
}

interface QueueDeps {
  folder: { readonly notes: SessionNotes; note(changes: Partial<SessionNotes>): void }
  /** Stores a message of the session on disk. */
  write(body: MessageBody, localId: string): Promise<void>
  uplink(): Pick<Uplink, 'tellRead'> | undefined
  onChange(): void
}

export function createQueue(deps: QueueDeps): Queue {
  return new SessionQueue(deps)
}

/** The notes to store once the agent has the message with this local id; none if it is not a reason. */
export function withoutReason(
  { reasons = [] }: Pick<SessionNotes, 'reasons'>,
  localId: string | null | undefined
): Pick<SessionNotes, 'reasons'> {
  const left = reasons.filter(reason => reason.localId !== localId)
  return left.length < reasons.length ? { reasons: left } : {}
}

// Per message; otherwise anyone who can write to the session could make this computer download without end.
const mostAnnounced = 20

class SessionQueue implements Queue {
  readonly #deps: QueueDeps
  readonly #waiting: Prompt[] = []
  /** Being handed to the agent. */
  readonly #taken = new Set<Prompt>()
  /** Those of them that must not go back to waiting. */
  readonly #withdrawn = new Set<Prompt>()
  /** Prompts known to be read in this process, by local id, with their text if fully known. */
  readonly #read = new Map<string, string | undefined>()
  /** Withdrawn too late, or before they arrived: devices are told when the agent has them. */
  readonly #watched = new Set<string>()
  /** Typed or shown here: the server echoes them. */
  readonly #own = new Set<string>()
  /** Prompts that an earlier process did not hand over. */
  readonly #leftReasons: readonly Reason[]
  #announced: Announced[] = []
  #readUpTo = 0
  #isHeld = false
  #isClosed = false
  #wake = () => {}
  #heard = () => {}

  constructor(deps: QueueDeps) {
    this.#deps = deps
    this.#leftReasons = deps.folder.notes.reasons ?? []
  }

  get length(): number {
    return this.#waiting.length
  }

  get hasNext(): boolean {
    return this.#taken.size > 0 || (this.#waiting.length > 0 && !this.#isHeld)
  }

  get isUrgent(): boolean {
    return this.#waiting[0] !== undefined && steers(this.#waiting[0])
  }

  async say(text: string): Promise<void> {
    const localId = newId()
    await this.show(text, localId)
    this.#add({ text, meta: undefined, seq: undefined, localId, attachments: [] })
    this.#deps.onChange()
  }

  instruct(text: string): void {
    this.#add({ text, meta: undefined, seq: undefined, localId: newId(), attachments: [] })
  }

  show(text: string, localId: string, meta: MessageMeta = {}): Promise<void> {
    this.#own.add(localId)
    return this.#deps.write(newUserText(text, { sentFrom: 'cli', ...meta }), localId)
  }

  hear(body: MessageBody, { seq, localId }: { seq: number; localId: string | null }): void {
    if (body.role === 'session') this.#hearEvent(envelopeOf(body))
    else if (body.role === 'user' && !this.#isFromHere(body.meta, localId))
      this.#hearText({ text: body.content.text, meta: body.meta, seq, localId })
    else return
    this.#deps.onChange()
  }

  onHeard(listener: () => void): void {
    this.#heard = listener
  }

  noteReason({ title, reason }: WhyNot, { stops }: { stops: boolean }): Reason {
    const { folder } = this.#deps
    const text = stops ? `I stopped you at “${title}”: ${reason}` : `I said no to “${title}”: ${reason}`
    const noted = { localId: newId(), text }
    folder.note({ reasons: [...(folder.notes.reasons ?? []), noted] })
    return noted
  }

  sayReason({ text, localId }: Reason): void {
    // Also from an earlier process: the server recognises a duplicate by its local id.
    void this.show(text, localId, { isReason: true })
    const at = this.#waiting.findIndex(({ isReason }) => !isReason)
    this.#add({ text, localId, meta: undefined, seq: undefined, attachments: [], isReason: true }, at)
    this.#deps.onChange()
  }

  async *prompts({ ready, readUpTo }: { ready(): Promise<void>; readUpTo: number }): AsyncGenerator<Prompt> {
    this.#readUpTo = readUpTo
    for (const reason of this.#leftReasons) if (this.#deps.folder.notes.reasons?.includes(reason)) this.sayReason(reason)
    while (!this.#isClosed) {
      await ready()
      if (this.#isClosed) return
      const next = this.#isHeld ? undefined : this.#take()
      if (!next) await new Promise<void>(resolve => (this.#wake = resolve))
      else if (!this.#isKnownRead(next)) yield next
    }
  }

  takeUrgent(): Prompt | undefined {
    const [next] = this.#waiting
    return next && steers(next) && next.attachments.length === 0 ? this.#take() : undefined
  }

  isWithdrawn(prompt: Prompt): boolean {
    return this.#withdrawn.has(prompt)
  }

  isAhead({ seq }: Prompt): boolean {
    return seq !== undefined && this.#settledWith(this.#deps.folder.notes, [seq]).settled.includes(seq)
  }

  given(prompt: Prompt): void {
    this.#done(prompt)
  }

  read(prompt: Prompt): void {
    const { folder } = this.#deps
    this.#done(prompt)
    folder.note(this.#notesOf(folder.notes, prompt))
    this.#tellRead(prompt, folder.notes.cursor)
  }

  drop(message: Said): void {
    const { folder } = this.#deps
    this.#done(message)
    folder.note(this.#notesOf(folder.notes, message))
  }

  confirm(message: Said, notes: SessionNotes): { changes: Partial<SessionNotes>; isLate: boolean } {
    const isLate = message.localId !== null && this.#remove(message.localId) !== undefined
    const changes = this.#notesOf(notes, message)
    if (changes.cursor !== undefined) this.#tellRead(message, changes.cursor)
    return { changes, isLate }
  }

  putBack(prompt: Prompt): boolean {
    const isClaimRequested = this.#insertFirst(prompt)
    this.#release()
    return isClaimRequested
  }

  holdBack(prompt: Prompt): boolean {
    this.#isHeld = this.#insertFirst(prompt)
    return this.#isHeld
  }

  forgetNumbers(): void {
    this.#readUpTo = 0
    for (const prompt of [...this.#waiting, ...this.#taken]) {
      prompt.seq = undefined
      delete prompt.edits
    }
  }

  close(): void {
    this.#isClosed = true
    this.#wake()
  }

  /** Typed at this terminal, in this process or an earlier one of this session: the agent gets it another way. */
  #isFromHere(meta: MessageMeta | undefined, localId: string | null): boolean {
    return (localId !== null && this.#own.delete(localId)) || meta?.sentFrom === 'cli'
  }

  /** Messages of devices other than texts. */
  #hearEvent(envelope: Envelope | undefined): void {
    if (envelope?.role !== 'user') return
    const { ev } = envelope
    if (ev.t === 'file') this.#announce(ev)
    if (ev.t === 'move') this.#move(ev.localId, ev.before)
    if (ev.t === 'withdraw') this.#withdraw(ev.localId)
  }

  #hearText(prompt: Omit<Prompt, 'attachments'> & { seq: number }): void {
    // An earlier process settled it, with its attachments.
    if (this.#deps.folder.notes.settled?.includes(prompt.seq)) this.#announced = []
    else if (prompt.meta?.replaces === undefined || !this.#replace(prompt)) this.#offer(prompt)
    this.#heard()
  }

  /** It belongs to the next text message. */
  #announce(attachment: Announced): void {
    if (this.#announced.length < mostAnnounced) this.#announced.push(attachment)
  }

  /** Moves it right before the other one, if both are waiting. */
  #move(localId: string, before: string): void {
    const [from, to] = [this.#find(localId), this.#find(before)]
    if (to < 0 || from < to) return
    this.#waiting.splice(to, 0, ...this.#waiting.splice(from, 1))
    this.#release()
  }

  #withdraw(localId: string): void {
    const withdrawn = this.#remove(localId)
    if (withdrawn) this.drop(withdrawn)
    else this.#watched.add(localId)
    if (!withdrawn && this.#read.has(localId)) this.#tell('read', localId)
  }

  /**
   * Queued on its own, also if it came too late for the message it was to replace. Moving a message that no longer
   * waits, or replacing it with the same text, would send it twice.
   */
  #offer(prompt: Omit<Prompt, 'attachments'>): void {
    const isLate = prompt.meta?.replaces !== undefined
    if (isLate && this.#isSaid(prompt)) {
      this.drop(prompt)
      return
    }
    this.#enqueue(prompt)
    if (isLate && prompt.localId !== null) this.#tell('apart', prompt.localId)
  }

  #isSaid({ meta, text }: Pick<Prompt, 'meta' | 'text'>): boolean {
    const { replaces = '', steer } = meta ?? {}
    const isOnItsWay = [...this.#taken].some(taken => taken.localId === replaces && taken.text === text)
    return steer === true || isOnItsWay || this.#read.get(replaces) === text
  }

  /** With its attachments. A steering prompt comes before the other waiting ones. */
  #enqueue(prompt: Omit<Prompt, 'attachments'>): void {
    const attachments = this.#announced
    this.#announced = []
    if (prompt.seq !== undefined && this.#deps.folder.notes.settled?.includes(prompt.seq)) return
    this.#add({ ...prompt, attachments }, steers(prompt) ? this.#waiting.findIndex(waiting => !steers(waiting)) : -1)
  }

  /** Replaces the text of the other one; false if that is no longer waiting. Attachments of a steering message are dropped then. */
  #replace({ text, meta, seq, localId }: Omit<Prompt, 'attachments'> & { seq: number }): boolean {
    const at = this.#find(meta?.replaces)
    const before = this.#waiting[at]
    if (!before) {
      if (meta?.steer) this.#announced = []
      return false
    }
    this.#waiting.splice(at, 1)
    const edits = [...(before.edits ?? []), { seq, localId }]
    const prompt = { ...before, text, meta: { ...before.meta, ...meta }, attachments: this.#announced, edits }
    this.#announced = []
    this.#add(prompt, steers(prompt) ? this.#waiting.findIndex(waiting => !steers(waiting)) : at)
    return true
  }

  #add(prompt: Prompt, at = -1): void {
    this.#waiting.splice(at < 0 ? this.#waiting.length : at, 0, prompt)
    this.#release()
  }

  #release(): void {
    this.#isHeld = false
    this.#wake()
  }

  #take(): Prompt | undefined {
    const next = this.#waiting.shift()
    if (next) this.#taken.add(next)
    return next
  }

  /** It arrived before it was found in the agent's history. An edit made since is sent to the agent now. */
  #isKnownRead(prompt: Prompt): boolean {
    if (prompt.seq === undefined || prompt.seq > this.#readUpTo) return false
    this.#done(prompt)
    const { edits = [], attachments, ...rest } = prompt
    const last = edits.at(-1)
    if (!last) return true
    for (const each of attachments) this.#announce(each)
    this.#offer({ ...rest, ...last })
    return true
  }

  /** It is no longer taken; false if it was withdrawn meanwhile. */
  #done(message: Said): boolean {
    const prompt = [...this.#taken].find(taken => taken === message)
    if (!prompt) return true
    this.#taken.delete(prompt)
    return !this.#withdrawn.delete(prompt)
  }

  /** False if it was withdrawn meanwhile. */
  #insertFirst(prompt: Prompt): boolean {
    const isClaimRequested = this.#done(prompt)
    // A reason refers to what the agent was doing.
    if (isClaimRequested) this.#waiting.splice(this.#waiting.filter(({ isReason }) => isReason && !prompt.isReason).length, 0, prompt)
    return isClaimRequested
  }

  #find(localId: string | undefined): number {
    return this.#waiting.findIndex(prompt => prompt.seq !== undefined && prompt.localId === localId)
  }

  /** Removes the message with this local id; undefined if it is not waiting. A taken one never goes back to waiting. */
  #remove(localId: string): Prompt | undefined {
    const at = this.#waiting.findIndex(prompt => prompt.localId === localId)
    const late = [...this.#taken].find(prompt => prompt.localId === localId)
    if (late) this.#withdrawn.add(late)
    if (at < 0) return undefined
    const [removed] = this.#waiting.splice(at, 1)
    if (at === 0) this.#release()
    return removed
  }

  /** The notes to store once the agent has it, or must never get it. */
  #notesOf(notes: SessionNotes, { seq, localId, edits = [] }: Said): Partial<SessionNotes> {
    return seq === undefined ? withoutReason(notes, localId) : this.#settledWith(notes, [seq, ...edits.map(edit => edit.seq)])
  }

  /** The cursor is one number: settled messages above it are listed while lower ones are waiting or taken. */
  #settledWith({ cursor, settled = [] }: Pick<SessionNotes, 'cursor' | 'settled'>, seqs: number[]): { cursor: number; settled: number[] } {
    const all = [...settled, ...seqs].toSorted((one, other) => one - other)
    const open = [...this.#waiting, ...this.#taken].flatMap(({ seq }) => (seq === undefined || all.includes(seq) ? [] : seq))
    const lowest = Math.min(...open)
    const below = all.filter(each => each < lowest)
    return { cursor: Math.max(cursor, below.at(-1) ?? 0), settled: all.filter(each => each > lowest) }
  }

  /** Receipts are one number: a message read before earlier ones is reported separately. */
  #tellRead({ seq, localId, text }: Said, cursor: number): void {
    if (seq === undefined) return
    this.#deps.uplink()?.tellRead(cursor)
    if (localId === null) return
    this.#read.set(localId, text)
    if (seq > cursor || this.#watched.has(localId)) this.#tell('read', localId)
  }

  /** With its own id, so that it is stored once. */
  #tell(t: 'read' | 'apart', localId: string): void {
    void this.#deps.write(newSessionMessage(newEnvelope({ t, localId }, { role: 'agent' })), idOfRow(`${localId} ${t}`))
  }
}

function steers({ meta }: Pick<Prompt, 'meta'>): boolean {
  return meta?.steer === true
}
