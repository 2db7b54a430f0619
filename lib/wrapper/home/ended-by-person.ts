import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { appendPrivateFile } from './private-files.ts'

interface Noted {
  path: string
  notes: {
    cursor: number
    heardUpTo?: number | undefined
    endedBy?: 'itself' | 'person' | undefined
    reasons?: readonly { localId: string }[] | undefined
  }
}

const file = 'ended-by-person'

/** Before a process that runs a session is told to end: what it notes by itself does not say that a person wanted it. */
export function noteEndedByPerson({ path }: { path: string }): void {
  appendPrivateFile(join(path, file), '')
}

/** A session that a person ended stays ended until the person writes to it. */
export function isEndedByPerson({ path, notes }: Noted): boolean {
  return notes.endedBy === 'person' || existsSync(join(path, file))
}

/** It goes on. */
export function forgetEndedByPerson(path: string): void {
  rmSync(join(path, file), { force: true })
}

/** The seq up to which messages do not bring an ended session back: all that were there, when a person ended it, else those the agent has. */
export function settledUpTo(known: Noted): number {
  const { cursor, heardUpTo = 0 } = known.notes
  return isEndedByPerson(known) ? Math.max(cursor, heardUpTo) : cursor
}

/** Names the last reason of a person that its agent did not hear, and that brings it back. */
export function reasonThatWakes(known: Noted): string | undefined {
  return isEndedByPerson(known) ? undefined : known.notes.reasons?.at(-1)?.localId
}
