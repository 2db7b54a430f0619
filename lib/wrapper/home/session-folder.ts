import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Journal } from '../../client/outbox/journal.ts'
import type { Draft } from '../../client/sealed/messages.ts'
import { openJournalFile } from './journal-file.ts'
import { clearClaimRequest, isClaimRequested } from './ownership.ts'
import { appendPrivateFile, makePrivateFolder, openNotesFile, readPrivateFile, syncFolder, writePrivateFile } from './private-files.ts'
import { ownerOf, ownName } from './processes.ts'
import {
  type HeardMessages,
  type HeardOptions,
  type OwnNumbers,
  openHeardMessages,
  openNumbersFile,
  openSeenCalls,
  type SeenCalls
} from './replay-protection.ts'
import { forgetEndedByPerson, formatNotes, isEndedByPerson, parseNotes, type SessionNotes } from './session-notes.ts'

/**
 * The folder of one session. Its name says which process owns it, and whether that one runs the session or
 * delivers its remains. So taking over the folder of a dead process, or resuming an ended session, is a
 * rename, of which only one can succeed: a session never has two live processes.
 */
export interface SessionFolder {
  readonly path: string
  readonly notes: SessionNotes
  /** On disk when it returns; while the disk is full, as soon as there is space. */
  note(changes: Partial<SessionNotes>): void
  /** Resolves when all notes are on disk. */
  noted(): Promise<void>
  /** Called with the reason at each failed attempt to write the notes, and with undefined when they are on disk. */
  onWaiting(heard: (why: unknown) => void): void
  openJournal(): Journal
  /** Stores a message that the server will never accept, with the reason, for later inspection. */
  setAside(draft: Draft, reason: string): void
  /** The executed calls of this session, by any of its processes. */
  openSeenCalls(): SeenCalls
  /** The numbers of its own messages. */
  openNumbers(): OwnNumbers
  /** Messages from people's devices, received by any of its processes. */
  openHeardMessages(options: Omit<HeardOptions, 'path'>): HeardMessages
  /** The agent's changes in this session, by any of its processes. */
  openEditedFiles(): EditedFiles
  /** Everything was delivered. Only what is needed to resume the session stays. */
  retire(): void
  /**
   * This process does not continue it: it is left as found for the next process, including its journal.
   * Does nothing once it was retired or removed.
   */
  giveBack(): void
  /** The session no longer exists. */
  remove(): void
}

export function createSessionFolder(home: string, notes: SessionNotes): SessionFolder {
  const path = join(sessionsIn(home), `${notes.tag}@${ownName()}`)
  makePrivateFolder(path)
  writePrivateFile(join(path, notesFile), formatNotes(notes))
  return openFolder(path, notes)
}

/** The folders of dead processes. */
export function findLeftovers(home: string): string[] {
  const sessions = sessionsIn(home)
  return readdirSync(sessions).flatMap(name => (ownerOf(name) === undefined ? [join(sessions, name)] : []))
}

/** Those that cannot be delivered: they have messages, and the notes of their session are damaged. */
export function findDamaged(home: string): string[] {
  return findLeftovers(home).filter(path => !readNotes(path) && existsSync(join(path, journalFile)))
}

/** The folder of the session that this process runs. */
export function findOwned(home: string, pid: number | undefined): string | undefined {
  const sessions = sessionsIn(home)
  const name = readdirSync(sessions).find(name => name.includes(`@${pid}-`) && !isDelivery(name) && ownerOf(name) === pid)
  return name && join(sessions, name)
}

export interface KnownSession {
  path: string
  notes: SessionNotes
  /** The process that runs it; undefined if it has ended or was abandoned. */
  pid: number | undefined
  /** The process that delivers its remains. */
  deliverer: number | undefined
  /** When its notes were last written, in milliseconds since 1970. */
  at: number
}

/** Every session of this computer that runs or can be resumed, latest first. Reads the notes of all of them. */
export function listSessions(home: string): KnownSession[] {
  return latestFirst([...sessionsOf(sessionsIn(home)), ...sessionsOf(endedIn(home))])
}

/** Those that run or were abandoned: few, however many have ended. */
export function listOpenSessions(home: string): KnownSession[] {
  return latestFirst(sessionsOf(sessionsIn(home)))
}

function sessionsOf(folder: string): KnownSession[] {
  return readdirSync(folder).flatMap(name => {
    const path = join(folder, name)
    const notes = readNotes(path)
    const owner = ownerOf(name)
    const [pid, deliverer] = isDelivery(name) ? [undefined, owner] : [owner, undefined]
    return notes ? [{ path, notes, pid, deliverer, at: noted(path) }] : []
  })
}

function latestFirst(sessions: KnownSession[]): KnownSession[] {
  return sessions.toSorted((one, other) => other.at - one.at)
}

/** Claims an ended session for this process again; undefined if another process was faster. */
export function reopen({ path }: Pick<KnownSession, 'path'>): SessionFolder | undefined {
  const home = dirname(dirname(path))
  const taken = join(sessionsIn(home), `${tagOf(path)}@${ownName()}`)
  const notes = take(path, taken)
  if (!notes) return undefined
  const endedBy = isEndedByPerson({ path: taken, notes }) ? ('person' as const) : notes.endedBy
  const folder = openFolder(taken, notes, { isEnded: dirname(path) === endedIn(home), notes: { ...notes, endedBy } })
  forgetEndedByPerson(taken)
  folder.note({ isEnding: false, isStarting: true, endedBy: undefined })
  return folder
}

/**
 * Claims the remains of a session for this process, to deliver them. Undefined if another process was
 * faster or wants to continue the session, or if its notes cannot be read; one whose owner died before
 * there was anything in it is removed.
 */
export function takeOver(path: string): SessionFolder | undefined {
  if (isClaimRequested(path)) return undefined
  if (!readNotes(path)) {
    if (!existsSync(join(path, journalFile))) rmSync(path, { recursive: true, force: true })
    return undefined
  }
  const taken = join(sessionsIn(dirname(dirname(path))), `${tagOf(path)}${delivery}@${ownName()}`)
  const notes = take(path, taken)
  return notes && openFolder(taken, notes)
}

function take(path: string, taken: string): SessionNotes | undefined {
  try {
    renameSync(path, taken)
  } catch {
    return undefined
  }
  clearClaimRequest(taken)
  return readNotes(taken)
}

/** In the name of a folder whose owner delivers it; no tag contains this character. */
const delivery = '~left'

function isDelivery(name: string): boolean {
  return name.includes(`${delivery}@`)
}

function tagOf(path: string): string {
  return basename(path).replace(/[~@].*/, '')
}

const notesFile = 'session.json'
const journalFile = 'outbox.journal'
const setAsideFile = 'set-aside.jsonl'
const seenCallsFile = 'calls.seen'
const numbersFile = 'numbers'
const heardFile = 'messages.heard'
const editedFile = 'files.edited'
/** In place of the process that owns it. */
const nobody = 'nobody'

/** Its state before this process had it. */
interface Before {
  isEnded: boolean
  notes: SessionNotes
}

function openFolder(path: string, notes: SessionNotes, before?: Before): SessionFolder {
  const home = dirname(dirname(path))
  let now = notes
  const file = openNotesFile(join(path, notesFile))
  let isOwn = true
  const leave = () => {
    isOwn = false
    file.close()
  }
  return {
    path,
    get notes() {
      return now
    },
    note(changes) {
      now = { ...now, ...changes }
      // A late write must not overwrite the next owner's notes.
      if (isOwn) file.write(formatNotes(now))
    },
    noted: () => file.settled(),
    onWaiting: file.onWaiting,
    setAside: (draft, reason) => appendPrivateFile(join(path, setAsideFile), `${JSON.stringify({ ...draft, reason })}\n`),
    openJournal: () => openJournalFile(join(path, journalFile)),
    openSeenCalls: () => openSeenCalls(join(path, seenCallsFile)),
    openNumbers: () => openNumbersFile(join(path, numbersFile)),
    openHeardMessages: options => openHeardMessages({ ...options, path: join(path, heardFile) }),
    openEditedFiles: () => openEditedFiles(join(path, editedFile)),
    giveBack() {
      if (!isOwn) return
      if (before) this.note({ ...before.notes, isStarting: undefined })
      leave()
      const isEnded = before?.isEnded && sizeOf(join(path, journalFile)) === 0
      renameSync(path, isEnded ? join(endedIn(home), now.tag) : join(sessionsIn(home), `${now.tag}@${nobody}`))
    },
    retire() {
      leave()
      rmSync(join(path, journalFile), { force: true })
      renameSync(path, join(endedIn(home), now.tag))
      syncFolder(endedIn(home))
      forgetOldest(home)
    },
    remove() {
      leave()
      rmSync(path, { recursive: true, force: true })
    }
  }
}

export function sessionsIn(home: string): string {
  const path = join(home, 'sessions')
  makePrivateFolder(path)
  return path
}

/** Nothing in the folder of an ended session changes before it is moved out of here. */
export function endedIn(home: string): string {
  const path = join(home, 'ended')
  makePrivateFolder(path)
  return path
}

const mostEnded = 500

function forgetOldest(home: string): void {
  const ended = readdirSync(endedIn(home)).map(name => join(endedIn(home), name))
  if (ended.length <= mostEnded) return
  const byAge = ended.toSorted((one, other) => noted(one) - noted(other))
  for (const path of byAge.slice(0, ended.length - mostEnded)) rmSync(path, { recursive: true, force: true })
}

function noted(path: string): number {
  return statSync(join(path, notesFile), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}

/** Without claiming it; undefined if it cannot be read. */
export function readNotes(path: string): SessionNotes | undefined {
  try {
    return parseNotes(readPrivateFile(join(path, notesFile)) ?? '')
  } catch {
    return undefined
  }
}

/**
 * Files that the agent changed in one session, by any of its processes: a command that runs one of them
 * needs a person.
 */
interface EditedFiles {
  /** Absolute. */
  readonly paths: ReadonlySet<string>
  /** On disk when it returns; throws if that fails, and then only this process knows them. */
  add(paths: readonly string[]): void
}

/** `path`: of the file they are stored in, one per line. */
export function openEditedFiles(path: string): EditedFiles {
  const paths = new Set((readPrivateFile(path) ?? '').split('\n').flatMap(readLine))
  return {
    paths,
    add(more) {
      const fresh = [...new Set(more)].filter(each => !paths.has(each))
      if (fresh.length === 0) return
      for (const each of fresh) paths.add(each)
      // The line end comes first, so that an entry after a torn line is on its own line.
      appendPrivateFile(path, fresh.map(each => `\n${JSON.stringify(each)}`).join(''))
    }
  }
}

function readLine(line: string): string[] {
  try {
    const path: unknown = JSON.parse(line)
    return typeof path === 'string' ? [path] : []
  } catch {
    return []
  }
}
