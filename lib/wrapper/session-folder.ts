import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Journal } from '../client/journal.ts'
import { sessionMetadata } from '../protocol/sealed/session.ts'
import { openJournalFile } from './journal-file.ts'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'

const sessionNotes = z.object({
  /** Names the session on the server, also when it could not be opened there yet. */
  tag: z.string(),
  server: z.string(),
  /** The raw data key in base64; null for a session sealed with the account secret. */
  key: z.string().nullable(),
  metadata: sessionMetadata,
  /** The seq of the last message whose prompt the agent has; 0 before the first. */
  cursor: z.number(),
  /** Whether a turn was begun and not ended. */
  turn: z.string().nullable()
})

/** What has to be known of a session so that another process can bring it to its end. Only its owner can read it: it holds a key. */
export type SessionNotes = z.infer<typeof sessionNotes>

/**
 * The folder of one session under way. Its name says which process owns it, so that taking over the folder of a dead
 * one is a rename, of which only one can succeed.
 */
export interface SessionFolder {
  readonly notes: SessionNotes
  /** On disk when it returns. */
  note(changes: Partial<SessionNotes>): void
  openJournal(): Journal
  /** Nothing is left to do for this session. */
  remove(): void
}

export function createSessionFolder(home: string, notes: SessionNotes): SessionFolder {
  const path = join(sessionsIn(home), `${randomUUID()}@${ownName()}`)
  makePrivateFolder(path)
  writePrivateFile(join(path, notesFile), JSON.stringify(notes))
  return openFolder(path, notes)
}

/** The folders of processes that do not run any more. */
export function findLeftovers(home: string): string[] {
  const sessions = sessionsIn(home)
  return readdirSync(sessions).flatMap(name => (isOwned(name) ? [] : [join(sessions, name)]))
}

/** Undefined when another process was faster, or its owner died before there was anything in it (it is then removed). */
export function takeOver(path: string): SessionFolder | undefined {
  const taken = path.replace(/@[^@/\\]*$/, `@${ownName()}`)
  try {
    renameSync(path, taken)
  } catch {
    return undefined
  }
  const notes = readNotes(taken)
  if (notes) return openFolder(taken, notes)
  if (!existsSync(join(taken, journalFile))) rmSync(taken, { recursive: true, force: true })
  return undefined
}

const notesFile = 'session.json'
const journalFile = 'outbox.journal'

function openFolder(path: string, notes: SessionNotes): SessionFolder {
  let now = notes
  return {
    get notes() {
      return now
    },
    note(changes) {
      now = { ...now, ...changes }
      writePrivateFile(join(path, notesFile), JSON.stringify(now))
    },
    openJournal: () => openJournalFile(join(path, journalFile)),
    remove: () => rmSync(path, { recursive: true, force: true })
  }
}

function sessionsIn(home: string): string {
  const path = join(home, 'sessions')
  makePrivateFolder(path)
  return path
}

/** Without taking it over; undefined when it cannot be read. */
export function readNotes(path: string): SessionNotes | undefined {
  try {
    return sessionNotes.parse(JSON.parse(readPrivateFile(join(path, notesFile)) ?? ''))
  } catch {
    return undefined
  }
}

// A process id alone comes again; with the time of its start it names one process of this boot.
function ownName(): string {
  return `${process.pid}-${startOf(process.pid) ?? 0}`
}

function isOwned(name: string): boolean {
  const [, pid, started] = /@(\d+)-(\d+)$/.exec(name) ?? []
  if (pid === undefined || !isRunning(Number(pid))) return false
  const since = startOf(Number(pid))
  return since === undefined || started === '0' || started === String(since)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** In ticks since the system started; undefined where the system does not tell. */
function startOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [state] = fields
    return state === 'Z' ? -1 : Number(fields[19])
  } catch {
    return undefined
  }
}
