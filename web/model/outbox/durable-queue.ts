import { effect, type ReadonlySignal, signal } from '@preact/signals'
import type { CallFailureReason } from '../../../lib/client/index.ts'
import { trueNow } from '../../core/clock.ts'
import type { DeviceDb } from '../../core/device-db.ts'
import { storedList } from '../../core/stored-list.ts'

/** A request of a person to be sent from this device, kept until it is done or they have read that it failed. */
export interface Entry {
  /** Identifies it on this device. */
  readonly key: string
  readonly kind: string
  readonly state: EntryState
}

export type EntryState =
  /** `queued`: sent automatically, once allowed. `delivered`: the other side has it, and the person still sees the result. */
  | { readonly type: 'queued' | 'sending' | 'delivered' }
  | { readonly type: 'wants-folder' }
  | { readonly type: 'failed'; readonly why: CallFailureReason; readonly says: string }

/** The behaviour of one kind of entry. */
export interface Kind<Item extends Entry> {
  /**
   * From when on it may be sent, in ms since 1970: 0 for now, `Infinity` if unknown. `over`: there is no longer a reason to
   * send it. Signals read here make the queue call this again.
   */
  mayLeave(entry: Item): number | 'over'
  /** Its next state, or undefined if it is done. One that failed because its target was offline stays queued. */
  send(entry: Item): Promise<EntryState | undefined>
  /**
   * Set for entries sent at most once: one tab claims it, and this returns its state if the app closed while sending; undefined drops it. Without this
   * it may be sent twice, which the other side detects.
   */
  asLeft?(entry: Item): Item | undefined
  /** Failed entries stay on this device until a person retries or cancels them; otherwise only while the app is open. */
  readonly keepsFailed?: boolean
  /** If the browser cannot store anything, it may wait in this tab alone. */
  readonly mayStayInTab?: boolean
  onFailed?(): void
}

type EntryOf<Item extends Entry, Name extends Item['kind']> = Extract<Item, { kind: Name }>

/**
 * The queue of this device: stored in the device database, so that entries also wait while the app is closed, and sent from one place.
 * Messages wait in the same database, in the journal of the outbox, which sends them in order and in batches.
 */
export interface DurableQueue<Item extends Entry> {
  /** Oldest first. */
  readonly all: ReadonlySignal<readonly Item[]>
  of<Name extends Item['kind']>(kind: Name): readonly EntryOf<Item, Name>[]
  /** Stores it, replacing the entry with the same key; it is sent once allowed. Rejects if it must be stored and cannot be. */
  put(entry: Item): Promise<void>
  /** While connected, sends it immediately without storing, otherwise like `put`. `mayWait`: false to fail instead. */
  send(entry: Item, mayWait: boolean): Promise<void>
  /** Cancels it, unless it is being sent. */
  withdraw(key: string): Promise<void>
  /** The person has seen the result. */
  dismiss(key: string): void
  /** Changes an entry that is not being sent; if `how` returns it unchanged, it stays. */
  change<Name extends Item['kind']>(kind: Name, key: string, how: (entry: EntryOf<Item, Name>) => EntryOf<Item, Name>): Promise<void>
  /** Resolves when the entries of earlier starts of the app are in `all`. */
  readonly isRead: Promise<void>
  /** Resolves when everything that must be stored is stored. */
  close(): Promise<void>
}

interface QueueSources<Item extends Entry> {
  readonly kinds: Readonly<Record<Item['kind'], Kind<Item>>>
  /** False while the account feed may be outdated: then nothing is sent. */
  readonly isLinked: ReadonlySignal<boolean>
  readonly db?: (() => Promise<Pick<DeviceDb, 'read' | 'write' | 'remove'>>) | undefined
  readonly now?: () => number
  /** Returns a function that cancels. */
  readonly after?: (ms: number, run: () => void) => () => void
}

export function openQueue<Item extends Entry>({
  kinds,
  isLinked,
  db,
  now = trueNow,
  after = timer
}: QueueSources<Item>): DurableQueue<Item> {
  const kept = storedList<Item>('queue', db)
  const all = signal<readonly Item[]>([])
  /** Entries that could not be stored. */
  const onlyHere = new Set<string>()
  const hasRead = signal(false)
  const asked = signal(0)
  const kindOf = (entry: Item): Kind<Item> => {
    const name: Item['kind'] = entry.kind
    return kinds[name]
  }
  const find = (key: string) => all.peek().find(each => each.key === key)
  const forget = (key: string): void => {
    onlyHere.delete(key)
    all.value = all.peek().filter(each => each.key !== key)
  }
  /** Replaces the entry, or appends it. */
  const show = (entry: Item): void => {
    const isHere = find(entry.key) !== undefined
    all.value = isHere ? all.peek().map(each => (each.key === entry.key ? entry : each)) : [...all.peek(), entry]
  }
  const drop = (key: string): Promise<void> => kept.drop(key).catch(() => {})

  /** Another tab of the device may have sent or canceled it. */
  const isMine = async (entry: Item): Promise<boolean> => {
    if (onlyHere.has(entry.key)) return true
    if (kindOf(entry).asLeft === undefined)
      return kept.read().then(
        list => list.some(({ key }) => key === entry.key),
        () => true
      )
    const before = await kept.change(entry.key, each => (each?.state.type === 'queued' ? { ...each, state: { type: 'sending' } } : each))
    return before?.state.type === 'queued'
  }

  const leave = async (entry: Item): Promise<void> => {
    show({ ...entry, state: { type: 'sending' } })
    if (!(await isMine(entry))) return forget(entry.key)
    await settle(entry, waitsOn(await kindOf(entry).send(entry)))
  }

  const settle = async (entry: Item, state: EntryState | undefined): Promise<void> => {
    const { key } = entry
    if (state === undefined) {
      await drop(key)
      return forget(key)
    }
    const now: Item = { ...entry, state }
    show(now)
    const { asLeft, keepsFailed, onFailed } = kindOf(entry)
    if (state.type === 'failed') onFailed?.()
    // An unclaimed entry is still there unchanged.
    if (state.type === 'queued' && asLeft === undefined) return
    if (state.type === 'queued' || keepsFailed) await kept.change(key, before => before && now).catch(() => {})
    else await drop(key)
  }

  const isRead = kept
    .read()
    .catch(() => [])
    .then(list => {
      const known = new Set(all.peek().map(({ key }) => key))
      const left = list.flatMap(entry => {
        if (known.has(entry.key)) return []
        if (entry.state.type !== 'sending') return entry
        const found = kindOf(entry).asLeft?.(entry)
        if (found === undefined) void drop(entry.key)
        return found ?? []
      })
      all.value = [...left, ...all.peek()]
      hasRead.value = true
    })

  // The only place that sends.
  const stop = effect(() => {
    asked.value
    if (!isLinked.value || !hasRead.value) return
    const timers: (() => void)[] = []
    for (const entry of all.peek()) {
      // Called for each in any state, so that one that is queued again is re-evaluated when something changes.
      const from = kindOf(entry).mayLeave(entry)
      if (entry.state.type !== 'queued') continue
      if (from === 'over') void drop(entry.key)
      else if (from <= now()) void leave(entry).catch(() => forget(entry.key))
      else if (from < Number.POSITIVE_INFINITY) timers.push(after(Math.min(longestMs, from - now()), () => asked.value++))
    }
    return () => {
      for (const end of timers) end()
    }
  })

  const put = async (entry: Item): Promise<void> => {
    // Only what is stored is shown as waiting: the app may be closed the moment a person reads that.
    try {
      await kept.put(entry)
    } catch (error) {
      if (!kindOf(entry).mayStayInTab) throw error
      onlyHere.add(entry.key)
    }
    show(entry)
    asked.value++
  }

  return {
    all,
    isRead,
    of: name => all.value.filter(isOf(name)),
    put,
    async send(entry, mayWait) {
      if (isLinked.peek()) {
        show({ ...entry, state: { type: 'sending' } })
        return settle(entry, await kindOf(entry).send(entry))
      }
      return mayWait ? put(entry) : settle(entry, { type: 'failed', why: 'not-connected', says: '' })
    },
    async withdraw(key) {
      const { type } = find(key)?.state ?? { type: 'queued' }
      if (type === 'sending' || type === 'delivered') return
      forget(key)
      await drop(key)
    },
    dismiss: forget,
    async change(name, key, how) {
      const isIt = isOf<Item, typeof name>(name)
      const next = (entry: Item): Item => (isIt(entry) ? how(entry) : entry)
      const here = find(key)
      if (here === undefined || here.state.type === 'sending') return
      let hasChanged = onlyHere.has(key)
      await kept.change(key, before => {
        const after = before && next(before)
        hasChanged ||= after !== before
        return after
      })
      if (!hasChanged) return
      show(next(here))
      asked.value++
    },
    async close() {
      stop()
      await kept.read().catch(() => [])
    }
  }
}

const isOf =
  <Item extends Entry, Name extends Item['kind']>(kind: Name) =>
  (entry: Item): entry is EntryOf<Item, Name> =>
    entry.kind === kind

/** Nothing was done because the target was offline: it stays queued. */
function waitsOn(state: EntryState | undefined): EntryState | undefined {
  const isAway = state?.type === 'failed' && (state.why === 'away' || state.why === 'not-connected')
  return isAway ? { type: 'queued' } : state
}

/** Longer timeouts would fire immediately in a browser. */
const longestMs = 2 ** 31 - 1

function timer(ms: number, run: () => void): () => void {
  const waiting = setTimeout(run, ms)
  return () => clearTimeout(waiting)
}
