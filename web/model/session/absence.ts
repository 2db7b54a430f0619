import { type ReadonlySignal, signal } from '@preact/signals'
import { deviceDb } from '../../core/device-db.ts'
import { home } from '../home.ts'

/** Up to which message a session was read, how long ago that was on return, and when the person returned. */
export interface Absence {
  readonly seq: number
  /** By this device's clock. */
  readonly endedAt: number
  readonly forMs: number
}

/** Shorter absences do not count. */
const longMs = 10 * 60_000
const entry = (session: string) => `looked.${session}`

const absences = signal<ReadonlyMap<string, Absence>>(new Map())
const looks: ReadonlySignal<ReadonlyMap<string, Absence>> = absences

/** Undefined if the person was not away from a session for long. */
export function absenceOf(session: string): Absence | undefined {
  return looks.value.get(session)
}

/** The session is on screen; returns a function to call when it no longer is. Returning to the app counts as coming back. */
export function lookAt(session: string): () => void {
  let isLooking = false
  const begin = async () => {
    if (document.visibilityState !== 'visible') return leave()
    if (isLooking) return
    isLooking = true
    const kept = await (await deviceDb()).read(entry(session))
    if (!isLook(kept)) return
    const endedAt = Date.now()
    const forMs = endedAt - kept.at
    const next = new Map(absences.peek())
    // Messages that arrived meanwhile may not be known here yet.
    if (forMs > longMs) next.set(session, { seq: kept.seq, forMs, endedAt })
    else next.delete(session)
    absences.value = next
  }
  const leave = () => {
    if (!isLooking) return
    isLooking = false
    const seq = home.peek().sessions.get(session)?.seq
    // Without space, only the summary on return is missing.
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
