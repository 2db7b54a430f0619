import { withDeadline } from '../../async/deadline.ts'
import { pause } from '../../async/pause.ts'
import type { MachineHandlers } from '../../client/calls/machine-calls.ts'
import type { MachineProcess } from '../../protocol/sealed/calls/machine-work.ts'
import { untilFound } from '../home/folder-watch.ts'
import { type Lease, listLeases } from '../home/ownership.ts'
import { beganAt, inShells, memoryOf, nameOf, readChildren, treeOf } from '../home/processes.ts'
import { findOwned, type KnownSession, listOpenSessions, readNotes } from '../home/session-folder.ts'
import { noteEndedByPerson } from '../home/session-notes.ts'

/** Afield's processes on this computer, and how to end them. */
export function processMethods(home: string) {
  return {
    processes: () => ({ processes: readRunning(home).map(({ shown }) => shown) }),
    async 'end-process'({ id }) {
      const running = readRunning(home).find(({ shown }) => shown.id === id)
      if (!running) throw new Error('This process has already ended, or was not started by Afield.')
      if (running.session) noteEndedByPerson(running.session)
      await endProcess(running.shown, running.session === undefined)
      return { message: running.session ? 'The session has ended.' : 'The process has ended.' }
    },
    'stop-session': ({ sessionId }) => stopSession(home, sessionId)
  } satisfies Partial<MachineHandlers>
}

/** Ends these sessions for a person who logs out, and wants them to stay ended; resolves when their processes are gone. */
export async function endSessions(sessions: readonly KnownSession[]): Promise<void> {
  await Promise.all(
    sessions.map(async session => {
      const id = nameOf(session.pid ?? 0)
      if (session.pid === undefined || id === undefined) return
      noteEndedByPerson(session, 'logout')
      await endProcess({ id, pid: session.pid }, false)
    })
  )
}

/** A session by its id on the server, or by its process as existing clients write it: `PID-123`. */
async function stopSession(home: string, id: string): Promise<{ message: string }> {
  const pid = /^PID-(\d+)$/.exec(id)?.[1]
  const running = listOpenSessions(home).find(
    session => session.pid !== undefined && session.pid !== process.pid && (session.notes.id === id || String(session.pid) === pid)
  )
  if (running?.pid === undefined) throw new Error('No such session runs on this computer.')
  noteEndedByPerson(running)
  process.kill(running.pid, 'SIGTERM')
  // New messages must not be read by a process that is about to end.
  const whenDeaf = (watch: (folder: string) => void) => {
    watch(running.path)
    return findOwned(home, running.pid) === undefined || readNotes(running.path)?.isEnding ? true : undefined
  }
  await withDeadline(graceMs, signal => untilFound(whenDeaf, signal, { lookEveryMs: diesWithinMs })).catch(() => {})
  return { message: 'Session stopped' }
}

interface Running {
  shown: MachineProcess
  session: KnownSession | undefined
}

/** A session that is starting has no folder yet. */
const startWithinMs = 120_000

function readRunning(home: string): Running[] {
  const children = readChildren()
  const sessions = listOpenSessions(home).filter(({ pid }) => pid !== undefined && pid !== process.pid)
  const own = new Set(sessions.map(({ pid }) => pid))
  const leftOver = listLeases(home).filter(lease => isLeftOver(lease, own))
  return [
    ...sessions.flatMap(session => describe(session.pid ?? 0, children, session, undefined)),
    ...leftOver.flatMap(lease => describe(lease.pid, children, undefined, lease))
  ]
}

function isLeftOver({ of, owner, pid, at }: Lease, sessions: ReadonlySet<number | undefined>): boolean {
  if (of === 'agent') return owner === undefined
  return !sessions.has(pid) && Date.now() - at > startWithinMs
}

function describe(
  pid: number,
  children: ReadonlyMap<number, readonly number[]>,
  session: KnownSession | undefined,
  lease: Lease | undefined
): Running[] {
  const id = nameOf(pid)
  const startedAt = beganAt(pid)
  if (id === undefined || startedAt === undefined) return []
  const pids = treeOf(pid, children)
  const { id: sessionId, metadata } = session?.notes ?? {}
  const folder = metadata?.path ?? lease?.folder
  return [
    {
      session,
      shown: {
        id,
        pid,
        startedAt,
        ...memoryOf(pids),
        processes: pids.length,
        inShells: inShells(pids, children),
        isLeftOver: session === undefined,
        title: metadata?.agentTitle ?? lease?.title ?? 'An agent',
        ...(folder !== undefined && { folder }),
        ...(sessionId !== undefined && { session: sessionId })
      }
    }
  ]
}

const graceMs = 10_000
const lookEveryMs = 50
const diesWithinMs = 250

/** Only this exact process, even if its id is reused meanwhile. A leftover agent has its own group. */
async function endProcess({ id, pid }: Pick<MachineProcess, 'id' | 'pid'>, isGroup: boolean): Promise<void> {
  const signal = (name: NodeJS.Signals) => {
    if (nameOf(pid) === id) process.kill(isGroup && process.platform !== 'win32' ? -pid : pid, name)
  }
  signal('SIGTERM')
  const began = performance.now()
  while (nameOf(pid) === id) {
    if (performance.now() - began > graceMs) signal('SIGKILL')
    await pause(lookEveryMs)
  }
}
