import { type ReadonlySignal, signal } from '@preact/signals'
import type { Waiting } from './session-waiting.ts'

/** A decision that was on the screen here when it ended, and was not answered here. */
export interface Went {
  readonly session: string
  readonly asked: Waiting
  readonly at: number
}

const wentNow = signal<readonly Went[]>([])

export const went: ReadonlySignal<readonly Went[]> = wentNow

/** The last one of a session is enough: who comes back to many finds the others with their steps. */
export function noteWent(gone: Went): void {
  wentNow.value = [...wentNow.peek().filter(({ session }) => session !== gone.session), gone]
}

/** The person has read it. */
export function forgetWent(session: string): void {
  wentNow.value = wentNow.peek().filter(each => each.session !== session)
}
