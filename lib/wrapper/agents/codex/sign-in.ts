import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateFolder, writePrivateFile } from '../../home/private-files.ts'
import { listSessions } from '../../home/session-folder.ts'
import { isEndedByPerson } from '../../home/session-notes.ts'

/**
 * Stores a sign-in that a phone gave for one session, by the session's tag: in a Codex home of its own,
 * where Codex also stores the conversation. Returns the variables with which Codex finds it.
 */
export function saveSignIn(home: string, tag: string, token: string): Record<string, string> {
  forgetUnknown(home)
  const folder = join(homesIn(home), tag)
  makePrivateFolder(folder)
  writePrivateFile(join(folder, signIn), token)
  return { CODEX_HOME: folder }
}

/** The same when resuming the session; nothing for one that uses this computer's sign-in. */
export function signInHome(home: string, tag: string): Record<string, string> {
  const folder = join(homesIn(home), tag)
  return existsSync(folder) ? { CODEX_HOME: folder } : {}
}

/** For when a session's process has ended: unless it may continue by itself, the sign-in is no longer needed. */
export function removeSignIn(home: string, tag: string | undefined): void {
  const known = listSessions(home).find(({ notes }) => notes.tag === tag)
  const mayGoOn = known && !isEndedByPerson(known)
  if (tag !== undefined && !mayGoOn) rmSync(join(homesIn(home), tag, signIn), { force: true })
}

const signIn = 'auth.json'

function homesIn(home: string): string {
  const path = join(home, 'agents', 'codex')
  makePrivateFolder(path)
  return path
}

/** Of sessions that were deleted, or can no longer be resumed. */
function forgetUnknown(home: string): void {
  const known = new Set(listSessions(home).map(({ notes }) => notes.tag))
  for (const tag of readdirSync(homesIn(home))) {
    const folder = join(homesIn(home), tag)
    const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (!known.has(tag) && age > surelyBegunMs) rmSync(folder, { recursive: true, force: true })
  }
}

// Until then it may be one that is just starting.
const surelyBegunMs = 60 * 60_000
