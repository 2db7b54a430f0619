import { type ReadonlySignal, signal } from '@preact/signals'
import type { Answered } from './decisions.ts'
import type { Waiting } from './waiting.ts'

/** A decision that was on the screen here when it ended, and was not answered here. */
export interface ClosedDecision {
  readonly session: string
  readonly asked: Waiting
  readonly at: number
  /** What else of its session was open or over when it closed: what comes after these is newer than it. */
  readonly beside: readonly string[]
  /** Somebody came for it when it was long over, and it may have been answered here. */
  readonly isLookedUp?: boolean
  /** What has happened since. */
  readonly since?: readonly Since[]
}

/** `stopped`: nothing ran in its session any more. `ended-here`: the person ended its agent on this device. */
export type Since = 'turn-over' | 'read' | 'said' | 'stopped' | 'ended-here'

const closedNow = signal<readonly ClosedDecision[]>([])
const endedAt = new Map<string, number>()

export const closedDecisions: ReadonlySignal<readonly ClosedDecision[]> = closedNow

/** The last one of a session is enough: who comes back to many finds the others with their steps. */
export function noteClosed(gone: ClosedDecision): void {
  // Seen to go here, it was not answered here; the address that it was read at says no more of it.
  if (gone.isLookedUp && closedNow.peek().some(({ session, asked }) => session === gone.session && asked.id === gone.asked.id)) return
  const ended = endedAt.get(gone.session)
  const isEndedHere = ended !== undefined && gone.at - ended < endTakesMs
  const noted: ClosedDecision = isEndedHere ? { ...gone, since: ['ended-here'] } : gone
  closedNow.value = [...closedNow.peek().filter(({ session }) => session !== gone.session), noted]
}

/** The person has read it. */
export function forgetClosed(session: string): void {
  closedNow.value = closedNow.peek().filter(each => each.session !== session)
}

/** It goes by itself when its turn is over and the person has read it, or has said something since. */
export function noteSince(session: string, what: Since): void {
  const gone = closedNow.peek().find(each => each.session === session)
  if (gone === undefined || gone.since?.includes(what)) return
  const since = [...(gone.since ?? []), what]
  if (since.includes('turn-over') && (since.includes('read') || since.includes('said'))) forgetClosed(session)
  else closedNow.value = closedNow.peek().map(each => (each === gone ? { ...gone, since } : each))
}

/** The person ends the agent of a session here; false: that came to nothing. */
export function noteEnding(session: string, isDone = true): void {
  if (isDone) endedAt.set(session, Date.now())
  else endedAt.delete(session)
}

/** Above the next decision it would read as if that one were answered. */
export function isOvertaken({ asked, beside }: ClosedDecision, open: readonly Waiting[], answered: readonly Answered[]): boolean {
  // What a rule allowed was never open.
  const others = [...open, ...answered.filter(({ rule, by }) => rule === undefined || by !== undefined)]
  return others.some(({ id }) => id !== asked.id && !beside.includes(id))
}

const endTakesMs = 60_000
