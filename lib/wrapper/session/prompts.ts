import type { MessageMeta } from '../../protocol/sealed/messages.ts'
import type { Announced } from '../agents/attachments.ts'
import type { SessionNotes } from '../home/session-notes.ts'
import type { Reason } from './reasons.ts'

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

/** What people wrote and the agent does not have yet. One reader; what it is given is on its way to the agent until it says what became of it. */
export interface Prompts extends AsyncIterable<Prompt> {
  readonly length: number
  /** One is taken out at once when no turn runs, or was taken out and is on its way. */
  readonly hasNext: boolean
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
  /** Takes out the next one if it is urgent and nothing came with it. */
  takeUrgent(): Prompt | undefined
  /** Whether what was taken out, and is on its way to the agent, says this. */
  isOnItsWay(localId: string, text: string): boolean
  /** The agent has what was taken out, or never shall. */
  done(prompt: Prompt): void
  /** What was taken out is the first again, with what came with it; false, and it is done, when it was withdrawn meanwhile. */
  giveBack(prompt: Prompt): boolean
  /** The same of one that the agent could not be given: tried again when something else is said; what is behind it waits with it. */
  putBack(prompt: Prompt): boolean
  /** Takes out the message of this local id; undefined when it does not wait. */
  withdraw(localId: string): Prompt | undefined
  /** True, and it is done, when it was to be withdrawn since it was taken out. */
  dropWithdrawn(prompt: Prompt): boolean
  /** What has to be noted once the agent has the message of this seq, or never shall: those that wait or are on their way may have lower ones. */
  settled(notes: Pick<SessionNotes, 'cursor' | 'settled'>, ...seqs: number[]): Pick<SessionNotes, 'cursor' | 'settled'>
  /** The server numbers the messages anew. */
  forgetNumbers(): void
  close(): void
}

// Of one message; whoever could write to the session could have this computer fetch without end.
const mostAnnounced = 20

/** `notes` says what an earlier process of the session settled; `ready` resolves when one may be taken out. */
export function createPrompts(notes: () => Pick<SessionNotes, 'settled'>, ready: () => Promise<void>): Prompts {
  const waiting: Prompt[] = []
  const taken = new Set<Prompt>()
  const withdrawn = new Set<Prompt>()
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
  const take = (): Prompt | undefined => {
    const next = waiting.shift()
    if (next) taken.add(next)
    return next
  }
  const done = (prompt: Prompt) => {
    taken.delete(prompt)
    return !withdrawn.delete(prompt)
  }
  const giveBack = (prompt: Prompt): boolean => {
    const isWanted = done(prompt)
    // A reason was said about what the agent did meanwhile.
    if (isWanted) waiting.splice(waiting.filter(({ isReason }) => isReason && !prompt.isReason).length, 0, prompt)
    return isWanted
  }
  const find = (localId: string | undefined) => waiting.findIndex(prompt => prompt.seq !== undefined && prompt.localId === localId)
  const steers = ({ meta }: Pick<Prompt, 'meta'>) => meta?.steer === true

  return {
    get length() {
      return waiting.length
    },
    get hasNext() {
      return taken.size > 0 || (waiting.length > 0 && !isHeld)
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
    takeUrgent() {
      const [next] = waiting
      return next && steers(next) && next.attachments.length === 0 ? take() : undefined
    },
    isOnItsWay: (localId, text) => [...taken].some(prompt => prompt.localId === localId && prompt.text === text),
    done: prompt => void done(prompt),
    giveBack(prompt) {
      const isBack = giveBack(prompt)
      release()
      return isBack
    },
    putBack(prompt) {
      isHeld = giveBack(prompt)
      return isHeld
    },
    withdraw(localId) {
      const at = waiting.findIndex(prompt => prompt.localId === localId)
      const late = [...taken].find(prompt => prompt.localId === localId)
      if (late) withdrawn.add(late)
      if (at < 0) return undefined
      const [unwanted] = waiting.splice(at, 1)
      if (at === 0) release()
      return unwanted
    },
    dropWithdrawn: prompt => withdrawn.has(prompt) && !done(prompt),
    settled({ cursor, settled = [] }, ...seqs) {
      const all = [...settled, ...seqs].toSorted((one, other) => one - other)
      const open = [...waiting, ...taken].flatMap(({ seq }) => (seq === undefined || all.includes(seq) ? [] : seq))
      const lowest = Math.min(...open)
      const below = all.filter(each => each < lowest)
      return { cursor: Math.max(cursor, below.at(-1) ?? 0), settled: all.filter(each => each > lowest) }
    },
    forgetNumbers() {
      for (const prompt of [...waiting, ...taken]) {
        prompt.seq = undefined
        delete prompt.edits
      }
    },
    close() {
      isClosed = true
      wake()
    },
    async *[Symbol.asyncIterator]() {
      while (!isClosed) {
        await ready()
        const next = isHeld ? undefined : take()
        if (next) yield next
        else if (!isClosed) await new Promise<void>(resolve => (wake = resolve))
      }
    }
  }
}
