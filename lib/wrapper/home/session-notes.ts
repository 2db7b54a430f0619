import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sessionMetadata, unanswered } from '../../protocol/sealed/session.ts'
import { worktree } from '../../protocol/sealed/worktree.ts'
import * as v from '../../schema.ts'
import { keptNotice } from './notice-queue.ts'
import { appendPrivateFile, makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'

/** How an agent is started, stored with its session so that another process can start it again. */
const agentProgram = v.variant('kind', [
  v.object({ kind: v.literal('claude') }),
  v.object({ kind: v.literal('codex') }),
  v.object({ kind: v.literal('demo') }),
  v.object({ kind: v.literal('opencode') }),
  v.object({ kind: v.literal('acp'), command: v.string(), args: v.array(v.string()) })
])

export type AgentProgram = v.InferOutput<typeof agentProgram>

const notesOnDisk = v.object({
  /** Identifies the session on the server, even before it was opened there. */
  tag: v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/)),
  /** The server knows it by a forgotten tag: it is found there by its id. */
  isUntagged: v.optional(v.boolean()),
  /** The server's id of the session, once it was opened there. */
  id: v.optional(v.string()),
  server: v.string(),
  /** Absent in the notes of earlier versions: such a session is delivered, and cannot be resumed. */
  program: v.optional(agentProgram),
  /** The raw data key in base64; null for a session sealed with the account secret. */
  key: v.nullable(v.string()),
  metadata: sessionMetadata,
  /** The seq of the last message whose prompt the agent has; 0 before the first. */
  cursor: v.number(),
  /** Higher ones that the agent already has, or never will. */
  settled: v.optional(v.array(v.number())),
  /** Whether a turn started and has not ended. */
  turn: v.nullable(v.string()),
  /** See `sentUpTo`. */
  toldUpTo: v.nullish(v.object({ file: v.string(), offset: v.number() })),
  /** Where the agent's recording of the turn starts, while output is sent live. */
  turnAt: v.nullish(v.object({ file: v.string(), offset: v.number() })),
  /** See `pendingPrompt`. */
  handing: v.nullish(
    v.object({
      seq: v.nullable(v.number()),
      localId: v.nullish(v.string()),
      text: v.string(),
      isAhead: v.optional(v.boolean()),
      edits: v.optional(v.array(v.number()))
    })
  ),
  /**
   * A person's reasons for a no or a stop that the agent has not received: it gets them first, the oldest
   * first.
   */
  reasons: v.optional(v.array(v.object({ localId: v.string(), text: v.string() }))),
  /** The beginning of the first message; the title of a session that has none. */
  firstPrompt: v.optional(v.string()),
  /** Its process is ending it. */
  isEnding: v.optional(v.boolean()),
  /** It was resumed, and its agent does not run yet. */
  isStarting: v.optional(v.boolean()),
  /** Every file that the agent changed in it is recorded: it started here, and none of its processes was killed. */
  knowsEdits: v.optional(v.boolean()),
  /** Who ended it; absent while it runs, and if its process was killed. */
  endedBy: v.optional(v.picklist(['itself', 'person'])),
  /**
   * It started with a version of ours that names what it seals: nameless text on the server was never
   * sealed by ours.
   */
  isNamed: v.optional(v.boolean()),
  /** An app of ours has written to it, and named what it sealed. */
  hearsNames: v.optional(v.boolean()),
  unanswered: v.optional(unanswered),
  /** Notices for phones that are not sent, or sent and still open. */
  notices: v.optional(v.array(keptNotice)),
  /** The seq of the last message when it ended, read or not. */
  heardUpTo: v.optional(v.number())
})

type NotesOnDisk = v.InferOutput<typeof notesOnDisk>

/** What another process needs to finish a session. Only its owner can read it: it contains a key. */
export interface SessionNotes extends Omit<NotesOnDisk, 'toldUpTo' | 'handing'> {
  /** How far the agent's own recording was sent; null while output is sent in another way. */
  sentUpTo?: NotesOnDisk['toldUpTo']
  /**
   * A prompt that the agent may have or not: it was handed over, and the agent has not confirmed it. `seq` is null for one from
   * this terminal; `isAhead`: others with lower ones wait; `edits`: the seqs of its edits.
   */
  pendingPrompt?: NotesOnDisk['handing']
}

/** Throws if they are damaged. */
export function parseNotes(text: string): SessionNotes {
  const { toldUpTo, handing, ...notes } = v.parse(notesOnDisk, JSON.parse(text))
  return { ...notes, sentUpTo: toldUpTo, pendingPrompt: handing }
}

// These two keep their first names on disk, so that notes can be read by every version.
export function formatNotes({ sentUpTo, pendingPrompt, ...notes }: SessionNotes): string {
  return JSON.stringify({ ...notes, toldUpTo: sentUpTo, handing: pendingPrompt } satisfies NotesOnDisk)
}

const startNotes = v.object({
  mode: v.optional(v.string()),
  model: v.optional(v.string()),
  effort: v.optional(v.string()),
  /** The agent's first prompt. */
  prompt: v.optional(v.string()),
  /** A conversation of the agent to resume, in a new session. */
  resume: v.optional(v.string()),
  /** The session's description of itself. */
  about: v.optional(
    v.object({
      parentSessionId: v.optional(v.string()),
      forkedFromMessageId: v.optional(v.string()),
      isSideChat: v.optional(v.boolean()),
      gitBranch: v.optional(v.string()),
      worktree: v.optional(worktree)
    })
  )
})

/** Data for a session that the daemon starts. */
export type StartNotes = v.InferOutput<typeof startNotes>

/** Only its owner can read them [W6]. Returns how to remove what was not claimed. */
export function writeStart(home: string, tag: string, notes: StartNotes): () => void {
  const file = fileOf(home, tag)
  writePrivateFile(file, JSON.stringify(notes))
  return () => rmSync(file, { force: true })
}

/** The data for the session with this tag; nothing the second time. */
export function takeStart(home: string, tag: string | undefined): StartNotes {
  if (tag === undefined || !/^[\w-]{1,64}$/.test(tag)) return {}
  const file = fileOf(home, tag)
  const text = readPrivateFile(file)
  rmSync(file, { force: true })
  return text === undefined ? {} : v.parse(startNotes, JSON.parse(text))
}

function fileOf(home: string, tag: string): string {
  const folder = join(home, 'starting')
  makePrivateFolder(folder)
  return join(folder, `${tag}.json`)
}

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

/**
 * Before a session's process is told to end: its own notes do not say that a person wanted it. With `how`, the process
 * can say at its terminal that the computer is logged out.
 */
export function noteEndedByPerson({ path }: { path: string }, how: '' | 'logout' = ''): void {
  appendPrivateFile(join(path, file), how)
}

/** Only until the folder moves, which it does when the session has ended. */
export function isEndedByLogout(path: string): boolean {
  return readPrivateFile(join(path, file))?.includes('logout') === true
}

/** A session that a person ended stays ended until the person writes to it. */
export function isEndedByPerson({ path, notes }: Noted): boolean {
  return notes.endedBy === 'person' || existsSync(join(path, file))
}

/** It goes on. */
export function forgetEndedByPerson(path: string): void {
  rmSync(join(path, file), { force: true })
}

/**
 * The seq up to which messages do not resume an ended session: all of them, if a person ended it, otherwise
 * those the agent has.
 */
export function settledUpTo(known: Noted): number {
  const { cursor, heardUpTo = 0 } = known.notes
  return isEndedByPerson(known) ? Math.max(cursor, heardUpTo) : cursor
}

/** Names the person's last reason that its agent did not get, and that resumes it. */
export function wakingReason(known: Noted): string | undefined {
  return isEndedByPerson(known) ? undefined : known.notes.reasons?.at(-1)?.localId
}
