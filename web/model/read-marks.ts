import { type Cipher, type LiveSocket, Refused, type Rest } from '../../lib/client/index.ts'
import { readMarks, readMarksKey } from '../../lib/protocol/sealed/read-marks.ts'
import { kvKey, type Sealed, sealed } from '../../lib/protocol/wire/ids.ts'
import * as v from '../../lib/schema.ts'

type Marks = ReadonlyMap<string, number>

interface ReadMarks {
  /** The person has read a session up to this message, on this device. */
  note(session: string, seq: number): void
  /** Sends pending marks now. */
  flush(): void
  close(): void
}

export interface ReadMarksSources {
  readonly rest: Pick<Rest, 'call'>
  readonly socket: Pick<LiveSocket, 'state' | 'onState' | 'onUpdate'>
  /** Of the account. */
  readonly cipher: Cipher
  /** Marks from other devices. */
  onMarks(marks: Marks): void
  /** Whether a mark is still worth storing. */
  isKnown(session: string): boolean
  /** Returns a function that cancels. */
  readonly after?: (ms: number, run: () => void) => () => void
}

/** While reading along, each message is seen as it comes: marks are batched. */
const tellAfterMs = 3_000
const mostTries = 5

/**
 * Read marks shared by all devices of the account: one sealed value among its keys, in which the largest number wins. On a server
 * without keys each device uses its own marks.
 */
export function followReadMarks({ rest, socket, cipher, onMarks, isKnown, after = timer }: ReadMarksSources): ReadMarks {
  const key = v.parse(kvKey, readMarksKey)
  const stopped = new AbortController()
  const { signal } = stopped
  let there = { version: -1, marks: new Map<string, number>() as Marks }
  let own: Marks = new Map()
  let isRead = false
  let stopTimer: (() => void) | undefined
  let isTelling = false

  /** False if it was not sealed by this account, or in a newer format: then it is not overwritten. */
  const take = (version: number, value: Sealed | null): boolean => {
    if (isRead && version <= there.version) return true
    const opened = value === null ? undefined : cipher.open(value)
    const known = opened?.ok ? v.safeParse(readMarks, opened.value) : undefined
    if (value !== null && !known?.success) return false
    const marks = new Map(Object.entries(known?.data?.read ?? {}))
    there = { version, marks }
    isRead = true
    onMarks(marks)
    return true
  }
  const read = async (): Promise<boolean> => {
    const { values } = await rest.call('readKv', { body: { keys: [key] } }, { signal })
    const [found] = values
    if (found === undefined) {
      isRead = true
      return true
    }
    // A server restored to an older state counts from there.
    if (found.version < there.version) isRead = false
    return take(found.version, found.value)
  }
  const unsent = (): [string, number][] => [...own].filter(([session, seq]) => isKnown(session) && seq > (there.marks.get(session) ?? 0))
  const tell = async (): Promise<void> => {
    for (let tries = 0; tries < mostTries && unsent().length > 0; tries++) {
      if ((tries > 0 || !isRead) && !(await read())) return
      // Another device has stored them, or the answer to a write was lost.
      if (unsent().length === 0) return
      const marks = new Map([...there.marks, ...unsent()].filter(([session]) => isKnown(session)))
      const { version } = there
      const value = v.parse(sealed, cipher.seal({ read: Object.fromEntries(marks) }))
      const body = { mutations: [{ key, value, version }] }
      const written = await rest.call('mutateKv', { body }, { signal }).catch((error: unknown) => {
        // Another device was faster: merge both.
        if (error instanceof Refused && error.status === 409) return undefined
        throw error
      })
      const now = written?.results[0]?.version
      if (now !== undefined && now > there.version) there = { version: now, marks }
    }
  }
  const flush = (): void => {
    stopTimer?.()
    stopTimer = undefined
    if (signal.aborted || unsent().length === 0 || socket.state.type !== 'live' || isTelling) return
    isTelling = true
    // Marks that cannot be sent now are sent with the next one, or after reconnecting.
    void tell()
      .catch(() => {})
      .finally(() => {
        isTelling = false
      })
  }
  const begin = (): void => {
    if (socket.state.type !== 'live') return
    void read().then(flush, () => {})
  }
  const stopUpdates = socket.onUpdate(({ body }) => {
    if (body.t !== 'kv-batch-update') return
    const change = body.changes.find(each => each.key === key)
    if (change) take(change.version, change.value)
  })
  const stopState = socket.onState(begin)
  begin()

  return {
    note(session, seq) {
      if (seq <= Math.max(own.get(session) ?? 0, there.marks.get(session) ?? 0)) return
      own = new Map(own).set(session, seq)
      stopTimer ??= after(tellAfterMs, flush)
    },
    flush,
    close() {
      stopTimer?.()
      stopUpdates()
      stopState()
      stopped.abort()
    }
  }
}

function timer(ms: number, run: () => void): () => void {
  const started = setTimeout(run, ms)
  return () => clearTimeout(started)
}
