import { type ReadonlySignal, signal } from '@preact/signals'
import { deviceDb } from './device-db.ts'
import { home } from './home.ts'

/** Up to which message somebody had looked, and how long ago that was when they came back. */
export interface Absence {
  readonly seq: number
  readonly forMs: number
}

/** Shorter than this nobody was away. */
const longMs = 10 * 60_000
const entry = (session: string) => `looked.${session}`

const absences = signal<ReadonlyMap<string, Absence>>(new Map())
const looks: ReadonlySignal<ReadonlyMap<string, Absence>> = absences

/** Undefined for who was not away for long from a session, or where nothing came meanwhile. */
export function absenceOf(session: string): Absence | undefined {
  return looks.value.get(session)
}

/** Somebody looks at a session now; returned is what to call when they no longer do. Coming back to the app counts as coming back. */
export function lookAt(session: string): () => void {
  let isLooking = false
  const begin = async () => {
    if (document.visibilityState !== 'visible') return leave()
    if (isLooking) return
    isLooking = true
    const kept = await (await deviceDb()).read(entry(session))
    if (!isLook(kept)) return
    const forMs = Date.now() - kept.at
    const hasNews = (home.peek().sessions.get(session)?.seq ?? 0) > kept.seq
    const next = new Map(absences.peek())
    if (forMs > longMs && hasNews) next.set(session, { seq: kept.seq, forMs })
    else next.delete(session)
    absences.value = next
  }
  const leave = () => {
    if (!isLooking) return
    isLooking = false
    const seq = home.peek().sessions.get(session)?.seq
    // Without room it is only that nothing is told on the return.
    if (seq !== undefined) void deviceDb().then(db => db.write(entry(session), { seq, at: Date.now() }).catch(() => {}))
  }
  const follow = () => void begin().catch(() => {})
  follow()
  document.addEventListener('visibilitychange', follow)
  addEventListener('pagehide', leave)
  return () => {
    document.removeEventListener('visibilitychange', follow)
    removeEventListener('pagehide', leave)
    leave()
  }
}

function isLook(kept: unknown): kept is { seq: number; at: number } {
  return (
    typeof kept === 'object' &&
    kept !== null &&
    'seq' in kept &&
    'at' in kept &&
    typeof kept.seq === 'number' &&
    typeof kept.at === 'number'
  )
}
