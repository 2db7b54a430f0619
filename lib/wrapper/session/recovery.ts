import type { Clock } from '../../async/clock.ts'
import { withDeadline } from '../../async/deadline.ts'
import { pause } from '../../async/pause.ts'
import type { Fetch } from '../../client/link/rest.ts'
import type { Home } from '../home/credentials.ts'
import { createNoticeQueue, type NoticeQueue } from '../home/notice-queue.ts'
import { endOrphans, onClaimRequested, untilFree } from '../home/ownership.ts'
import { findLeftovers, type KnownSession, listSessions, readNotes, type SessionFolder, takeOver } from '../home/session-folder.ts'
import { ownWords } from '../uplink/outbox.ts'
import { previewOf } from '../uplink/preview.ts'
import { openUplink, type Uplink } from '../uplink/uplink.ts'
import { readUnsent, sendUnsent } from './cursor.ts'
import { cancelAll } from './requests/requests.ts'

export interface RecoveryOptions {
  home: Home
  fetch: Fetch
  /** The time limit per session. */
  withinMs: number
  signal?: AbortSignal | undefined
  /** Only those of this server. */
  server?: string | undefined
  /** Why one could not be read or stored; it remains, and does not block others. */
  onTrouble?: ((sentence: string) => void) | undefined
}

/**
 * Finishes the sessions of wrappers that were killed, or that ended without a connection: delivers in order what
 * they had on disk, closes the turn and the requests they left open, and archives them. Returns how many there were
 * and how many of them are now delivered.
 */
export async function recoverSessions(options: RecoveryOptions): Promise<{ found: number; delivered: number }> {
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
    if (await deliver(folder, options).catch(error => noteTrouble(error, options))) delivered++
  }
  return { found, delivered }
}

function noteTrouble(error: unknown, { onTrouble }: RecoveryOptions): false {
  onTrouble?.(`Messages of an earlier session could not be delivered: ${error instanceof Error ? error.message : String(error)}`)
  return false
}

async function deliver(folder: SessionFolder, options: RecoveryOptions): Promise<boolean> {
  return deliverAndClose(folder, options, async (uplink, notices) => {
    await sendUnsent(readUnsent(folder.notes), folder, (body, localId) => uplink.put(body, localId))
    const now = Date.now()
    uplink.changeState(state => cancelAll(state, now))
    notices.keepOpen([])
    // It was not ended by a person: its process was killed, or the computer stopped. Sent once, however often delivery is retried.
    if (folder.notes.endedBy === undefined) {
      folder.note({ endedBy: 'itself' })
      notices.add({ kind: 'failed', ask: null })
    }
  })
}

/** Sends a message to an ended session, which stays ended. Stored on disk if it cannot be delivered now. */
export async function writeToEndedSession({ path }: Pick<KnownSession, 'path'>, text: string, options: RecoveryOptions): Promise<void> {
  const folder = takeOver(path)
  if (!folder) return
  await deliverAndClose(folder, options, uplink => uplink.put(ownWords(text)))
}

/** Undelivered output is left to the next process, and given up immediately to a process that resumes the session. */
async function deliverAndClose(
  folder: SessionFolder,
  options: RecoveryOptions,
  tell: (uplink: Uplink, notices: NoticeQueue) => Promise<void>
): Promise<boolean> {
  const { home, fetch, withinMs, signal } = options
  const wanted = onClaimRequested(folder.path)
  try {
    const credentials = home.credentials(folder.notes.server)
    if (!credentials) return false
    const uplink = await openUplink({ home, credentials, folder, fetch })
    const notices = createNoticeQueue(folder, notice => uplink.notify(notice, previewOf(folder.notes)))
    await tell(uplink, notices).catch(async error => {
      await uplink.close()
      throw error
    })
    const isDelivered = await uplink.end({ ms: withinMs, signal: AbortSignal.any([wanted.signal, ...(signal ? [signal] : [])]) })
    if (isDelivered) await withDeadline(tellWithinMs, () => notices.flush()).catch(() => {})
    if (uplink.link.type === 'gone') folder.remove()
    else if (isDelivered) folder.retire()
    return isDelivered
  } finally {
    wanted.close()
    folder.giveBack()
  }
}

/** Takes over from processes that are delivering now. */
export async function takeFromOthers(home: string): Promise<void> {
  const isOthers = ({ deliverer }: KnownSession) => deliverer !== undefined && deliverer !== process.pid
  for (const { notes } of listSessions(home).filter(isOthers)) {
    const find = () => listSessions(home).find(({ notes: { tag } }) => tag === notes.tag)
    await untilFree(find, freeWithinMs).catch(() => {})
  }
}

const freeWithinMs = 5_000
const tellWithinMs = 5_000

/** Retries until nothing is left that this process may deliver. A repeated error is reported once. */
export async function recoverUntilDone(
  options: Omit<RecoveryOptions, 'withinMs'> & { signal: AbortSignal; clock?: Clock | undefined }
): Promise<void> {
  const { signal, clock } = options
  const reported = new Set<string>()
  while (!signal.aborted) {
    let isTroubled = false
    const onTrouble = (sentence: string) => {
      isTroubled = true
      if (!reported.has(sentence)) options.onTrouble?.(sentence)
      reported.add(sentence)
    }
    const { found, delivered } = await recoverSessions({ ...options, withinMs: eachMs, onTrouble })
    if (found === delivered) return
    await pause(isTroubled ? troubledRestMs : restMs, { signal, clock }).catch(() => {})
  }
}

// So that one unresponsive server does not block the others.
const eachMs = 60_000
const restMs = 5_000
// An unreadable session is probably still unreadable a moment later.
const troubledRestMs = 5 * 60_000
