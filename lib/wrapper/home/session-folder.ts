import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Journal } from '../../client/outbox/journal.ts'
import type { Draft } from '../../client/sealed/messages.ts'
import { openJournalFile } from './journal-file.ts'
import { isWanted, wantNoMore } from './ownership.ts'
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
} from './replay.ts'
import { forgetEndedByPerson, isEndedByPerson, type SessionNotes, sessionNotes } from './session-notes.ts'

/**
 * The folder of one session. Its name says which process owns it, and whether that one runs the session or delivers what
 * it left behind. So taking over the folder of a dead process, or resuming an ended session, is a rename, of which only one
 * can succeed: a session never has two live processes.
 */
export interface SessionFolder {
  readonly path: string
  readonly notes: SessionNotes
  /** On disk when it returns; while the disk is full, as soon as there is room. */
  note(changes: Partial<SessionNotes>): void
  /** Resolves when all that was noted is on disk. */
  noted(): Promise<void>
  /** Hears why what was noted waits, at each try that failed, and with undefined that it is on disk. */
  onWaiting(heard: (why: unknown) => void): void
  openJournal(): Journal
  /** Keeps a message that the server will never take, with its reason, for whoever looks into it later. */
  setAside(draft: Draft, reason: string): void
  /** The calls of this session that were carried out, by whichever process. */
  openSeenCalls(): SeenCalls
  /** The numbers of its own messages. */
  openNumbers(): OwnNumbers
  /** What people's devices said to it, by whichever process it was heard. */
  openHeardMessages(options: Omit<HeardOptions, 'path'>): HeardMessages
  /** What the agent changed in this session, by whichever process. */
  openEditedFiles(): EditedFiles
  /** Everything was delivered. What it takes to resume the session stays, and nothing else. */
  retire(): void
  /**
   * This process does not go on with it: to whoever comes next it is as it was found, and what waits in its journal waits on.
   * Does nothing once it was retired or removed.
   */
  giveBack(): void
  /** The session is no more. */
  remove(): void
}

export function createSessionFolder(home: string, notes: SessionNotes): SessionFolder {
  const path = join(sessionsIn(home), `${notes.tag}@${ownName()}`)
  makePrivateFolder(path)
  writePrivateFile(join(path, notesFile), JSON.stringify(notes))
  return openFolder(path, notes)
}

/** The folders of processes that do not run any more. */
export function findLeftovers(home: string): string[] {
  const sessions = sessionsIn(home)
  return readdirSync(sessions).flatMap(name => (ownerOf(name) === undefined ? [join(sessions, name)] : []))
}

/** Those of them that nobody can deliver: there are messages in it, and what is noted of their session is damaged. */
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
  /** The process that runs it; undefined when it has ended or was left behind. */
  pid: number | undefined
  /** The process that delivers what it left behind. */
  deliverer: number | undefined
  /** When it was last noted, in milliseconds since 1970. */
  at: number
}

/** Every session of this computer that runs or can be resumed, the latest first. Reads the notes of all of them. */
export function listSessions(home: string): KnownSession[] {
  return latestFirst([...sessionsOf(sessionsIn(home)), ...sessionsOf(endedIn(home))])
}

/** Those of them that run or were left behind: few, however many have ended. */
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

/** Makes an ended session this process's own again; undefined when another process was faster. */
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
 * Makes what a session left behind this process's own, to deliver it. Undefined when another process was faster or wants to go
 * on with the session, and when nobody can read whose it is; one whose owner died before there was anything in it is removed.
 */
export function takeOver(path: string): SessionFolder | undefined {
  if (isWanted(path)) return undefined
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
  wantNoMore(taken)
  return readNotes(taken)
}

/** In the name of a folder whose owner delivers it; no tag holds this sign. */
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
/** In the place of the process that owns it. */
const nobody = 'nobody'

/** How it was before this process had it. */
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
      // What comes too late shall not write over what the next owner notes.
      if (isOwn) file.write(JSON.stringify(now))
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

/** Nothing in the folder of an ended session changes before it is taken out of here. */
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

/** Without taking it over; undefined when it cannot be read. */
export function readNotes(path: string): SessionNotes | undefined {
  try {
    return sessionNotes.parse(JSON.parse(readPrivateFile(join(path, notesFile)) ?? ''))
  } catch {
    return undefined
  }
}

/** Files that the agent changed in one session, by whichever process of it: a command that runs one of them is looked at by a person. */
interface EditedFiles {
  /** From the root on. */
  readonly paths: ReadonlySet<string>
  /** On disk when it returns; throws when that is not so, and then they are known to this process alone. */
  add(paths: readonly string[]): void
}

/** `path`: of the file they are kept in, a line each. */
export function openEditedFiles(path: string): EditedFiles {
  const paths = new Set((readPrivateFile(path) ?? '').split('\n').flatMap(readLine))
  return {
    paths,
    add(more) {
      const fresh = [...new Set(more)].filter(each => !paths.has(each))
      if (fresh.length === 0) return
      for (const each of fresh) paths.add(each)
      // The line end comes first, so that what follows a torn line is a line of its own.
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
