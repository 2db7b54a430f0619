import { type Clock, systemClock } from '../../../async/clock.ts'

/** What is known of an ended session in which something waits for its agent. */
export interface WakeNotes {
  /** Messages up to here were looked through. */
  lookedUpTo: number
  /** The last of a person's that the agent does not have. */
  unread?: number | undefined
  /** Of the last reason of a person that the agent did not hear. */
  reason?: string | undefined
  /** How often the session was resumed for that, and when it may be again. */
  attempts: number
  nextAt: number
  /** What the last attempt failed with. */
  why?: string | undefined
  isTold?: boolean | undefined
}

/** An ended session. */
export interface Sleeper {
  id: string
  /** Messages up to here do not bring it back. */
  settledUpTo: number
  /** The number of its last message. */
  seq: number
  /** Names the last reason of a person that waits in it. */
  reason?: string | undefined
}

interface WakerDeps {
  notes: Map<string, WakeNotes>
  /** The number of the last message of a person behind this one that was not withdrawn. */
  lastUnread(id: string, after: number): Promise<number | undefined>
  /** Rejects with the reason for a person when it cannot be resumed. */
  wake(id: string): Promise<void>
  /** Says in the session that it could not be resumed. */
  tellFailed(id: string, why: string): Promise<void>
  /** Keeps the notes. */
  save(): void
  clock?: Pick<Clock, 'now'>
}

/** A failing agent is started this often for one message, with these pauses. */
export const pausesMs = [0, 10_000, 120_000] as const

/**
 * Resumes ended sessions to which a person wrote, or in which why a person said no waits to be heard. An agent that fails is not started for ever: the session is told so, and the
 * next message of a person lets it begin anew. Resolves to when it should be called again at the latest.
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
    // Before it is tried: one that takes this process down with it counts too.
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

/** Nothing came since it was looked through, and nothing waits in it. */
function isAsleep({ seq, settledUpTo, reason }: Sleeper, known: WakeNotes | undefined): boolean {
  return (
    known !== undefined &&
    known.unread === undefined &&
    known.reason === undefined &&
    reason === undefined &&
    seq <= Math.max(settledUpTo, known.lookedUpTo)
  )
}
