import { callSession } from '../../../lib/client/index.ts'
import type { SessionMetadata } from '../../../lib/protocol/sealed/session.ts'
import { sessionId } from '../../../lib/protocol/wire/ids.ts'
import * as v from '../../../lib/schema.ts'
import { trueNow } from '../../core/clock.ts'
import { toast } from '../../ui/toast.ts'
import { offerUndo } from '../../ui/undo.ts'
import { lists as words } from '../../words/lists.ts'
import type { Live } from '../account/live.ts'
import { noteEnding } from '../decisions/closed-decisions.ts'
import { groups } from '../groups.ts'
import { home, pin, updateHome } from '../home.ts'
import { hasDaemon } from '../machines.ts'
import { stopOnMachine } from '../start-and-stop.ts'
import { changeMetadata } from './metadata.ts'

/** Archives sessions. It can be undone for a moment; agents that still run there end only after that. */
export async function archive(live: Live | undefined, ids: readonly string[]): Promise<void> {
  if (!live) return toast(words.notDone)
  const done = await changeEach(live, ids, { archivedAt: trueNow() })
  const running = done.filter(id => home.peek().sessions.get(id)?.isActive === true)
  if (done.length === 0) return
  offerUndo(running.length > 0 ? words.archivedEnds(done.length) : words.archived(done.length), {
    undo: () => void unarchive(live, done),
    later: () => void endEach(live, running.filter(isStillAway))
  })
}

/** Unarchives sessions, also those archived automatically: they count as idle from now. */
export async function unarchive(live: Live | undefined, ids: readonly string[]): Promise<void> {
  if (!live) return toast(words.notDone)
  await changeEach(live, ids, { archivedAt: null, restoredAt: trueNow() })
}

/** Sending a message in a session unarchives it. */
export async function unarchiveOnMessage(live: Live, id: string): Promise<void> {
  if (groups.peek().archived.some(session => session.id === id)) await unarchive(live, [id])
}

/** Ends the agents of these sessions; resolves to how many ended. */
export async function endEach(live: Live, ids: readonly string[]): Promise<number> {
  const ended = await Promise.all(ids.map(id => endAgent(live, id)))
  return ended.filter(isEnded => isEnded).length
}

/** Asks an agent to stop its turn; it keeps running. Shows an error if it could not be reached. */
export async function askToStop(live: Live | undefined, id: string): Promise<void> {
  const cipher = live?.cipherOf(id)
  const isAsked =
    live &&
    cipher &&
    (await callSession(live.socket, cipher, id, 'abort', {}).then(
      () => true,
      () => false
    ))
  if (!isAsked) toast(words.notDone)
}

/** Permanently, here and everywhere. Resolves to how many were removed. */
export async function deleteEach(live: Live, ids: readonly string[]): Promise<number> {
  let count = 0
  for (const id of ids) {
    try {
      if (home.peek().sessions.get(id)?.isActive === true) await endAgent(live, id)
      await live.rest.call('removeSession', { params: { id: v.parse(sessionId, id) } })
      updateHome({ type: 'session-removed', id })
      pin([id], false)
      count++
    } catch {
      // The remaining ones stay in place, and their number is shown.
    }
  }
  return count
}

async function changeEach(live: Live, ids: readonly string[], put: Pick<SessionMetadata, 'archivedAt' | 'restoredAt'>): Promise<string[]> {
  const done = await Promise.all(
    ids.map(id =>
      changeMetadata(live, id, metadata => ({ ...metadata, ...put })).then(
        () => [id],
        () => []
      )
    )
  )
  const missing = ids.length - done.flat().length
  if (missing > 0) toast(ids.length === 1 ? words.notDone : words.notDoneFor(missing))
  return done.flat()
}

async function endAgent(live: Live, id: string): Promise<boolean> {
  const cipher = live.cipherOf(id)
  if (!cipher) return false
  noteEnding(id)
  const isDone = await callSession(live.socket, cipher, id, 'killSession', {}).then(
    ({ success }) => success,
    () => false
  )
  const machine = home.peek().machines.get(home.peek().sessions.get(id)?.metadata?.machineId ?? '')
  const isEnded = isDone || (machine !== undefined && hasDaemon(machine) && (await stopOnMachine(live, machine.id, id)))
  if (!isEnded) noteEnding(id, false)
  return isEnded
}

function isStillAway(id: string): boolean {
  return typeof home.peek().sessions.get(id)?.metadata?.archivedAt === 'number'
}
