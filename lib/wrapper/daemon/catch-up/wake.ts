import { type Clock, systemClock } from '../../../async/clock.ts'

/** What is known of an ended session with something waiting for its agent. */
export interface WakeNotes {
  /** Messages up to here were checked. */
  lookedUpTo: number
  /** The last message of a person that the agent does not have. */
  unread?: number | undefined
  /** Of the person's last reason that the agent did not get. */
  reason?: string | undefined
  /** How often the session was resumed for that, and when it may be again. */
  attempts: number
  nextAt: number
  /** The error of the last attempt. */
  why?: string | undefined
  isTold?: boolean | undefined
}

/** An ended session. */
export interface Sleeper {
  id: string
  /** Messages up to here do not resume it. */
  settledUpTo: number
  /** The number of its last message. */
  seq: number
  /** Names the person's last reason waiting in it. */
  reason?: string | undefined
}

interface WakerDeps {
  notes: Map<string, WakeNotes>
  /** The number of the last message of a person after this one that was not withdrawn. */
  lastUnread(id: string, after: number): Promise<number | undefined>
  /** Rejects with the reason for a person if it cannot be resumed. */
  wake(id: string): Promise<void>
  /** Reports in the session that it could not be resumed. */
  tellFailed(id: string, why: string): Promise<void>
  /** Stores the notes. */
  save(): void
  clock?: Pick<Clock, 'now'>
}

/** A failing agent is started this often for one message, with these pauses. */
export const pausesMs = [0, 10_000, 120_000] as const

/**
 * Resumes ended sessions with new messages from a person, or with a person's reason for a no. An agent that
 * fails is not started forever: the session says so, and the person's next message starts over. Resolves to
 * the latest time of the next call.
 */
export function createWaker({ notes, lastUnread, wake, tellFailed, save, clock = systemClock }: WakerDeps) {
  async function lookAt({ id, settledUpTo, seq, reason }: Sleeper): Promise<WakeNotes> {
    const known = notes.get(id) ?? { lookedUpTo: 0, attempts: 0, nextAt: 0 }
    const after = Math.max(settledUpTo, known.lookedUpTo)
    const before = known.unread !== undefined && known.unread > settledUpTo ? known.unread : undefined
    const unread = seq > after ? ((await lastUnread(id, after)) ?? before) : before
    const isWaiting = unread !== undefined || reason !== undefined
    const isSame = isWaiting && unread === known.unread && reason === known.reason
    const now = { ...(isSame ? known : { attempts: 0, nextAt: 0 }), lookedUpTo: Math.max(seq, after), unread, reason }
    notes.set(id, now)
    return now
  }

  async function attempt(id: string, now: WakeNotes): Promise<void> {
    const attempts = now.attempts + 1
    const next = { ...now, attempts, nextAt: clock.now() + (pausesMs[attempts] ?? 0) }
    notes.set(id, next)
    // Before the attempt: one that crashes this process counts too.
    save()
    try {
      await wake(id)
    } catch (error) {
      notes.set(id, { ...next, why: error instanceof Error ? error.message : String(error) })
      save()
    }
  }

  async function giveUp(id: string, now: WakeNotes): Promise<void> {
    if (now.isTold) return
    notes.set(id, { ...now, isTold: true })
    save()
    await tellFailed(id, now.why ?? 'It ended before it read your message.')
  }

  return {
    async look(sleepers: readonly Sleeper[]): Promise<number | undefined> {
      let again: number | undefined
      const restless = sleepers.filter(sleeper => !isAsleep(sleeper, notes.get(sleeper.id)))
      for (const sleeper of restless) {
        const now = await lookAt(sleeper)
        if (now.unread === undefined && now.reason === undefined) continue
        if (now.attempts >= pausesMs.length) await giveUp(sleeper.id, now)
        else if (now.nextAt <= clock.now()) await attempt(sleeper.id, now)
        const { nextAt, isTold } = notes.get(sleeper.id) ?? now
        if (!isTold) again = Math.min(again ?? nextAt, nextAt)
      }
      if (restless.length > 0) save()
      return again
    }
  }
}

/** Nothing arrived since it was checked, and nothing waits in it. */
function isAsleep({ seq, settledUpTo, reason }: Sleeper, known: WakeNotes | undefined): boolean {
  return (
    known !== undefined &&
    known.unread === undefined &&
    known.reason === undefined &&
    reason === undefined &&
    seq <= Math.max(settledUpTo, known.lookedUpTo)
  )
}
