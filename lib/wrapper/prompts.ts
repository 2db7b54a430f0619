import type { MessageMeta } from '../protocol/sealed/messages.ts'
import type { Announced } from './attachments.ts'
import type { Reason } from './reasons.ts'
import type { SessionNotes } from './session-folder.ts'

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
  /** The messages that replaced its words, in their order; it keeps its own place and name. */
  edits?: readonly Edit[]
}

export interface Edit {
  readonly seq: number
  readonly localId: string | null
}

/** What people wrote and the agent does not have yet. One reader. */
export interface Prompts extends AsyncIterable<Prompt> {
  readonly length: number
  /** The next one ends the turn that runs, instead of waiting for it. */
  readonly isUrgent: boolean
  /** It belongs to the next text of a person. */
  announce(attachment: Announced): void
  /** One that steers comes before those that wait. */
  offer(prompt: Omit<Prompt, 'attachments'>): void
  /** Takes the place of the one it is to replace; false when that does not wait any more. What came with one that steers goes then. */
  replace(prompt: Omit<Prompt, 'attachments'>): boolean
  /** Right before the other one, if both wait. */
  move(localId: string, before: string): void
  /** Comes before all that wait, but not before an earlier reason. */
  offerReason(reason: Reason): void
  /** It was taken out and the agent could not be given it: the first again, and tried again when something else is said; what is behind it waits with it. */
  putBack(prompt: Prompt): void
  /** Takes out the next one if it is urgent and nothing came with it. */
  takeUrgent(): Prompt | undefined
  /** Takes out the message of this local id; undefined when it does not wait. */
  withdraw(localId: string): Prompt | undefined
  /** What has to be noted once the agent has the message of this seq, or never shall: those that wait may have lower ones. */
  settled(notes: Pick<SessionNotes, 'cursor' | 'settled'>, ...seqs: number[]): Pick<SessionNotes, 'cursor' | 'settled'>
  close(): void
}

// Of one message; whoever could write to the session could have this computer fetch without end.
const mostAnnounced = 20

/** `notes` says what an earlier process of the session settled; `ready` resolves when one may be taken out. */
export function createPrompts(notes: () => Pick<SessionNotes, 'settled'>, ready: () => Promise<void>): Prompts {
  const waiting: Prompt[] = []
  let announced: Announced[] = []
  let isClosed = false
  let isHeld = false
  let wake = () => {}

  const release = () => {
    isHeld = false
    wake()
  }
  const add = (prompt: Prompt, at: number) => {
    waiting.splice(at < 0 ? waiting.length : at, 0, prompt)
    release()
  }
  const find = (localId: string | undefined) => waiting.findIndex(prompt => prompt.seq !== undefined && prompt.localId === localId)
  const steers = ({ meta }: Pick<Prompt, 'meta'>) => meta?.steer === true

  return {
    get length() {
      return waiting.length
    },
    get isUrgent() {
      return waiting[0] !== undefined && steers(waiting[0])
    },
    announce(attachment) {
      if (announced.length < mostAnnounced) announced.push(attachment)
    },
    offer(prompt) {
      const attachments = prompt.seq === undefined ? [] : announced
      if (prompt.seq !== undefined) announced = []
      if (prompt.seq !== undefined && notes().settled?.includes(prompt.seq)) return
      const at = steers(prompt) ? waiting.findIndex(waiting => !steers(waiting)) : -1
      add({ ...prompt, attachments }, at)
    },
    replace({ text, meta, seq, localId }) {
      const at = find(meta?.replaces)
      const before = waiting[at]
      if (!before || seq === undefined) {
        if (meta?.steer) announced = []
        return false
      }
      waiting.splice(at, 1)
      const edits = [...(before.edits ?? []), { seq, localId }]
      const prompt = { ...before, text, meta: { ...before.meta, ...meta }, attachments: announced, edits }
      announced = []
      add(prompt, steers(prompt) ? waiting.findIndex(waiting => !steers(waiting)) : at)
      return true
    },
    move(localId, before) {
      const [from, to] = [find(localId), find(before)]
      if (to < 0 || from < to) return
      waiting.splice(to, 0, ...waiting.splice(from, 1))
      release()
    },
    offerReason({ text, localId }) {
      const at = waiting.findIndex(({ isReason }) => !isReason)
      add({ text, localId, meta: undefined, seq: undefined, attachments: [], isReason: true }, at)
    },
    putBack(prompt) {
      waiting.unshift(prompt)
      isHeld = true
    },
    takeUrgent() {
      const [next] = waiting
      return next && steers(next) && next.attachments.length === 0 ? waiting.shift() : undefined
    },
    withdraw(localId) {
      const at = waiting.findIndex(prompt => prompt.localId === localId)
      if (at < 0) return undefined
      const [taken] = waiting.splice(at, 1)
      if (at === 0) release()
      return taken
    },
    settled({ cursor, settled = [] }, ...seqs) {
      const lowest = Math.min(...waiting.flatMap(prompt => prompt.seq ?? []))
      const all = [...settled, ...seqs].toSorted((one, other) => one - other)
      const below = all.filter(each => each < lowest)
      return { cursor: Math.max(cursor, below.at(-1) ?? 0), settled: all.filter(each => each > lowest) }
    },
    close() {
      isClosed = true
      wake()
    },
    async *[Symbol.asyncIterator]() {
      while (!isClosed) {
        await ready()
        const next = isHeld ? undefined : waiting.shift()
        if (next) yield next
        else if (!isClosed) await new Promise<void>(resolve => (wake = resolve))
      }
    }
  }
}
