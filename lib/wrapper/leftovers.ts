import { newEnvelope, newId, sessionMessage } from '../client/messages.ts'
import type { Fetch } from '../client/rest.ts'
import type { Home } from './credentials.ts'
import { cancelAll } from './decisions.ts'
import { endOrphans } from './orphans.ts'
import { cancelQuestions } from './questions.ts'
import { readUntold, recount } from './recount.ts'
import { findLeftovers, type KnownSession, readNotes, reopen, type SessionFolder, takeOver } from './session-folder.ts'
import { openUplink } from './uplink.ts'

export interface LeftoverOptions {
  home: Home
  fetch: Fetch
  /** For each session, the time it may take. */
  withinMs: number
  signal?: AbortSignal | undefined
  /** Those of this server alone. */
  server?: string | undefined
}

/**
 * Brings to their end the sessions of wrappers that were killed, or that ended without a link: delivers in order what
 * they had on disk, closes the turn and the questions they left open, and archives them. Tells how many there were
 * and how many of them are delivered now.
 */
export async function deliverLeftovers(options: LeftoverOptions): Promise<{ found: number; delivered: number }> {
  const { home, signal } = options
  await endOrphans(home.path)
  let found = 0
  let delivered = 0
  for (const path of findLeftovers(home.path)) {
    if (signal?.aborted) break
    const notes = readNotes(path)
    if (notes && !home.credentials(notes.server)) continue
    if (options.server !== undefined && notes?.server !== options.server) continue
    const folder = takeOver(path)
    if (!folder) continue
    found++
    if (await deliver(folder, options)) delivered++
  }
  return { found, delivered }
}

async function deliver(folder: SessionFolder, { home, fetch, withinMs, signal }: LeftoverOptions): Promise<boolean> {
  const credentials = home.credentials(folder.notes.server)
  if (!credentials) return false
  const uplink = await openUplink({ home, credentials, folder, fetch })
  await recount(readUntold(folder.notes), folder, (body, localId) => uplink.put(body, localId))
  const now = Date.now()
  uplink.changeState(state => cancelQuestions(cancelAll(state, now), now))
  const isDelivered = await uplink.end({ ms: withinMs, signal })
  if (uplink.link.type === 'gone') folder.remove()
  else if (isDelivered) folder.retire()
  return isDelivered
}

/** Tells something in an ended session, which stays ended. Kept on disk when it cannot be delivered now. */
export async function sayInEnded(known: Pick<KnownSession, 'path'>, text: string, options: LeftoverOptions): Promise<void> {
  const { endedBy, ...notes } = readNotes(known.path) ?? {}
  const folder = reopen(known)
  const credentials = folder && options.home.credentials(folder.notes.server)
  if (!folder || !credentials) return
  folder.note({ ...notes, endedBy })
  const { home, fetch, withinMs, signal } = options
  const uplink = await openUplink({ home, credentials, folder, fetch })
  await uplink.put(sessionMessage(newEnvelope({ t: 'service', text }, { role: 'agent', turn: newId() })))
  if (await uplink.end({ ms: withinMs, signal })) folder.retire()
}
