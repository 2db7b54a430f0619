import { type ReadonlySignal, signal } from '@preact/signals'
import type { Answered } from './decisions.ts'
import type { Waiting } from './waiting.ts'

/** A decision that was on screen here when it closed, and was not answered here. */
export interface ClosedDecision {
  readonly session: string
  readonly asked: Waiting
  readonly at: number
  /** The open and completed requests of its session when it closed: any others are newer. */
  readonly beside: readonly string[]
  /** It was opened from a link long after it closed, and may have been answered here. */
  readonly isLookedUp?: boolean
  /** What has happened since. */
  readonly since?: readonly Since[]
}

/** `stopped`: nothing was running in its session any more. `ended-here`: the person ended its agent on this device. */
export type Since = 'turn-over' | 'read' | 'said' | 'stopped' | 'ended-here'

const closedNow = signal<readonly ClosedDecision[]>([])
const endedAt = new Map<string, number>()

export const closedDecisions: ReadonlySignal<readonly ClosedDecision[]> = closedNow

/** The last one per session is enough: the others can be found with their steps. */
export function noteClosed(gone: ClosedDecision): void {
  // It closed on screen, so it was not answered here; the link it was opened from no longer matters.
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

/** It disappears when its turn is over and the person has read it, or has sent a message since. */
export function noteSince(session: string, what: Since): void {
  const gone = closedNow.peek().find(each => each.session === session)
  if (gone === undefined || gone.since?.includes(what)) return
  const since = [...(gone.since ?? []), what]
  if (since.includes('turn-over') && (since.includes('read') || since.includes('said'))) forgetClosed(session)
  else closedNow.value = closedNow.peek().map(each => (each === gone ? { ...gone, since } : each))
}

/** The person ends the agent of a session here; false: that failed. */
export function noteEnding(session: string, isDone = true): void {
  if (isDone) endedAt.set(session, Date.now())
  else endedAt.delete(session)
}

/** Above the next decision it would look as if that one had been answered. */
export function isOvertaken({ asked, beside }: ClosedDecision, open: readonly Waiting[], answered: readonly Answered[]): boolean {
  // A request allowed by a rule was never open.
  const others = [...open, ...answered.filter(({ rule, by }) => rule === undefined || by !== undefined)]
  return others.some(({ id }) => id !== asked.id && !beside.includes(id))
}

const endTakesMs = 60_000
