import { envelopeOf, newEnvelope, newId, newSessionMessage, newUserText } from '../../client/sealed/messages.ts'
import type { Envelope, MessageBody, MessageMeta } from '../../protocol/sealed/messages.ts'
import type { Announced } from '../agents/attachments.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import { idOfRow } from '../uplink/outbox.ts'
import type { Uplink } from '../uplink/uplink.ts'
import type { WhyNot } from './requests/requests.ts'

/** A message of a person, by which it is known what became of it. */
interface Said {
  readonly localId: string | null
  /** Undefined for one from this terminal. */
  readonly seq?: number | undefined
  /** The messages that replaced its words, in their order; it keeps its own place and name. */
  readonly edits?: readonly { readonly seq: number }[] | undefined
  /** Where they are known whole. */
  readonly text?: string
}

export interface Prompt {
  text: string
  meta: MessageMeta | undefined
  /** What was sent before it, and belongs to it. */
  attachments: readonly Announced[]
  /** Undefined for one from this terminal. */
  seq: number | undefined
  localId: string | null
  /** Why a person said no or stopped the turn. */
  isReason?: boolean
  edits?: readonly { readonly seq: number; readonly localId: string | null }[]
}

/** Why a person said no or stopped the turn, in words for the agent. On disk until it has them: nobody would say it again. */
type Reason = NonNullable<SessionNotes['reasons']>[number]

/**
 * What people said and what became of it. A prompt waits; it is taken out and is on its way to the agent; then it is read, or dropped:
 * the agent shall never have it. From its way it can come back and wait again. What is read or dropped is noted, so that no later
 * process hands it over, and devices are told. There is one reader.
 */
export interface Queue {
  /** How many wait. */
  readonly length: number
  /** One is taken out at once when no turn runs, or was taken out and is on its way. */
  readonly hasNext: boolean
  /** The next one ends the turn that runs, instead of waiting for it. */
  readonly isUrgent: boolean

  /** Said at this terminal, which is not the agent's own. Shown everywhere. */
  say(text: string): Promise<void>
  /** Said by nobody, and shown nowhere. */
  order(text: string): void
  /** Said to the agent already: shown everywhere. */
  show(text: string, localId: string): Promise<void>
  /** Said, told, moved or withdrawn on a device. */
  hear(body: MessageBody, about: { seq: number; localId: string | null }): void
  /** `listener` is called when a device has said something. One at a time. */
  onHeard(listener: () => void): void
  /** On disk before anything is done about it. */
  noteReason(whyNot: WhyNot, how: { stops: boolean }): Reason
  /** Shown everywhere, and before all that waits, but not before an earlier reason. */
  sayReason(reason: Reason): void

  /** Each in its turn, once `ready` resolves; without those up to `readUpTo`, which the agent is known to have. */
  prompts(options: { ready(): Promise<void>; readUpTo: number }): AsyncIterable<Prompt>
  /** Takes out the next one if it is urgent and nothing came with it. */
  takeUrgent(): Prompt | undefined
  /** It was to be withdrawn since it was taken out. */
  isWithdrawn(prompt: Prompt): boolean
  /** One before it still waits or is on its way. */
  isAhead(prompt: Prompt): boolean

  /** The agent was given it, and says itself when it has read it. */
  given(prompt: Prompt): void
  /** The agent has it. */
  read(prompt: Prompt): void
  /** The agent shall never have it. */
  drop(message: Said): void
  /**
   * The agent says that it has it, also if it seemed not to take it. `notes` are what will be noted then; resolves to what to note
   * besides, and whether it still waited.
   */
  confirm(message: Said, notes: SessionNotes): { changes: Partial<SessionNotes>; isLate: boolean }
  /** It is the first again, with what came with it; false when it was withdrawn meanwhile: then it has to be dropped. */
  giveBack(prompt: Prompt): boolean
  /** The same of one that the agent could not be given: tried again when something else is said; what is behind it waits with it. */
  putBack(prompt: Prompt): boolean

  /** The server numbers the messages anew. */
  forgetNumbers(): void
  /** Hands out nothing any more. */
  close(): void
}

interface QueueDeps {
  folder: { readonly notes: SessionNotes; note(changes: Partial<SessionNotes>): void }
  /** Puts a message of the session on disk. */
  write(body: MessageBody, localId: string): Promise<void>
  uplink(): Pick<Uplink, 'tellRead'> | undefined
  onChange(): void
}

export function createQueue(deps: QueueDeps): Queue {
  return new SessionQueue(deps)
}

/** What has to be noted once the agent has the message of this local id; nothing when that is no reason. */
export function withoutReason(
  { reasons = [] }: Pick<SessionNotes, 'reasons'>,
  localId: string | null | undefined
): Pick<SessionNotes, 'reasons'> {
  const left = reasons.filter(reason => reason.localId !== localId)
  return left.length < reasons.length ? { reasons: left } : {}
}

// Of one message; whoever could write to the session could have this computer fetch without end.
const mostAnnounced = 20

class SessionQueue implements Queue {
  readonly #deps: QueueDeps
  readonly #waiting: Prompt[] = []
  /** On their way to the agent. */
  readonly #taken = new Set<Prompt>()
  /** Of these, those that must not wait again. */
  readonly #withdrawn = new Set<Prompt>()
  /** What this process knows to be read, by local id, with its words where those are known whole. */
  readonly #read = new Map<string, string | undefined>()
  /** Withdrawn too late, or not known yet: devices are told when the agent has it. */
  readonly #watched = new Set<string>()
  /** Said or shown here: the server brings them back. */
  readonly #own = new Set<string>()
  /** What an earlier process of this session did not come to hand over. */
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

  order(text: string): void {
    this.#add({ text, meta: undefined, seq: undefined, localId: newId(), attachments: [] })
  }

  show(text: string, localId: string, meta: MessageMeta = {}): Promise<void> {
    this.#own.add(localId)
    return this.#deps.write(newUserText(text, { sentFrom: 'cli', ...meta }), localId)
  }

  hear(body: MessageBody, { seq, localId }: { seq: number; localId: string | null }): void {
    if (body.role === 'session') this.#hearEvent(envelopeOf(body))
    if (body.role === 'session') this.#deps.onChange()
    if (body.role !== 'user') return
    if (localId !== null && this.#own.delete(localId)) return
    // An earlier process of this session told what was written at its terminal; the agent has it.
    if (body.meta?.sentFrom === 'cli') return
    this.#hearText({ text: body.content.text, meta: body.meta, seq, localId })
    this.#heard()
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
    // Also of an earlier process: by its local id the server knows whether it has it.
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

  giveBack(prompt: Prompt): boolean {
    const isBack = this.#return(prompt)
    this.#release()
    return isBack
  }

  putBack(prompt: Prompt): boolean {
    this.#isHeld = this.#return(prompt)
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

  /** What devices tell beside texts. */
  #hearEvent(envelope: Envelope | undefined): void {
    if (envelope?.role !== 'user') return
    const { ev } = envelope
    if (ev.t === 'file') this.#announce(ev)
    if (ev.t === 'move') this.#move(ev.localId, ev.before)
    if (ev.t === 'withdraw') this.#withdraw(ev.localId)
  }

  #hearText(prompt: Omit<Prompt, 'attachments'> & { seq: number }): void {
    // An earlier process settled it, with what was sent before it.
    if (this.#deps.folder.notes.settled?.includes(prompt.seq)) this.#announced = []
    else if (prompt.meta?.replaces === undefined || !this.#replace(prompt)) this.#offer(prompt)
  }

  /** It belongs to the next text of a person. */
  #announce(attachment: Announced): void {
    if (this.#announced.length < mostAnnounced) this.#announced.push(attachment)
  }

  /** Right before the other one, if both wait. */
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
   * It waits by itself, also when it came too late for the message whose words it was to replace. To bring forward what does not wait
   * any more, or to replace it by the same words, would say it twice.
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

  /** With what was sent before it. One that steers comes before those that wait. */
  #enqueue(prompt: Omit<Prompt, 'attachments'>): void {
    const attachments = this.#announced
    this.#announced = []
    if (prompt.seq !== undefined && this.#deps.folder.notes.settled?.includes(prompt.seq)) return
    this.#add({ ...prompt, attachments }, steers(prompt) ? this.#waiting.findIndex(waiting => !steers(waiting)) : -1)
  }

  /** Takes the place of the one it is to replace; false when that does not wait any more. What came with one that steers goes then. */
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

  /** It was heard before it was found in what the agent had written down. What replaced its words since is said to the agent now. */
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

  /** It is not on its way any more; false when it was to be withdrawn meanwhile. */
  #done(message: Said): boolean {
    const prompt = [...this.#taken].find(taken => taken === message)
    if (!prompt) return true
    this.#taken.delete(prompt)
    return !this.#withdrawn.delete(prompt)
  }

  #return(prompt: Prompt): boolean {
    const isWanted = this.#done(prompt)
    // A reason was said about what the agent did meanwhile.
    if (isWanted) this.#waiting.splice(this.#waiting.filter(({ isReason }) => isReason && !prompt.isReason).length, 0, prompt)
    return isWanted
  }

  #find(localId: string | undefined): number {
    return this.#waiting.findIndex(prompt => prompt.seq !== undefined && prompt.localId === localId)
  }

  /** Takes out the message of this local id for good; undefined when it does not wait. One that is on its way never waits again. */
  #remove(localId: string): Prompt | undefined {
    const at = this.#waiting.findIndex(prompt => prompt.localId === localId)
    const late = [...this.#taken].find(prompt => prompt.localId === localId)
    if (late) this.#withdrawn.add(late)
    if (at < 0) return undefined
    const [removed] = this.#waiting.splice(at, 1)
    if (at === 0) this.#release()
    return removed
  }

  /** What has to be noted once the agent has it, or shall never have it. */
  #notesOf(notes: SessionNotes, { seq, localId, edits = [] }: Said): Partial<SessionNotes> {
    return seq === undefined ? withoutReason(notes, localId) : this.#settledWith(notes, [seq, ...edits.map(edit => edit.seq)])
  }

  /** The cursor is one number: those above it are named, as long as lower ones wait or are on their way. */
  #settledWith({ cursor, settled = [] }: Pick<SessionNotes, 'cursor' | 'settled'>, seqs: number[]): { cursor: number; settled: number[] } {
    const all = [...settled, ...seqs].toSorted((one, other) => one - other)
    const open = [...this.#waiting, ...this.#taken].flatMap(({ seq }) => (seq === undefined || all.includes(seq) ? [] : seq))
    const lowest = Math.min(...open)
    const below = all.filter(each => each < lowest)
    return { cursor: Math.max(cursor, below.at(-1) ?? 0), settled: all.filter(each => each > lowest) }
  }

  /** How far messages came is one number: of one that was read before earlier ones it is told beside that. */
  #tellRead({ seq, localId, text }: Said, cursor: number): void {
    if (seq === undefined) return
    this.#deps.uplink()?.tellRead(cursor)
    if (localId === null) return
    this.#read.set(localId, text)
    if (seq > cursor || this.#watched.has(localId)) this.#tell('read', localId)
  }

  /** Under a name of its own, so that it is told once. */
  #tell(t: 'read' | 'apart', localId: string): void {
    void this.#deps.write(newSessionMessage(newEnvelope({ t, localId }, { role: 'agent' })), idOfRow(`${localId} ${t}`))
  }
}

function steers({ meta }: Pick<Prompt, 'meta'>): boolean {
  return meta?.steer === true
}
