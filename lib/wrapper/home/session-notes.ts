import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { sessionMetadata, unanswered } from '../../protocol/sealed/session.ts'
import { worktree } from '../../protocol/sealed/worktree.ts'
import { keptNotice } from './notice-queue.ts'
import { appendPrivateFile, makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'

/** How an agent is started, stored with its session so that another process can start it again. */
const agentProgram = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('claude') }),
  z.object({ kind: z.literal('codex') }),
  z.object({ kind: z.literal('demo') }),
  z.object({ kind: z.literal('opencode') }),
  z.object({ kind: z.literal('acp'), command: z.string(), args: z.array(z.string()) })
])

export type AgentProgram = z.infer<typeof agentProgram>

export const sessionNotes = z.object({
  /** Identifies the session on the server, even before it was opened there. */
  tag: z.string().regex(/^[\w-]{1,64}$/),
  /** The server knows it by a forgotten tag: it is found there by its id. */
  isUntagged: z.boolean().optional(),
  /** The server's id of the session, once it was opened there. */
  id: z.string().optional(),
  server: z.string(),
  /** Absent in the notes of earlier versions: such a session is delivered, and cannot be resumed. */
  program: agentProgram.optional(),
  /** The raw data key in base64; null for a session sealed with the account secret. */
  key: z.string().nullable(),
  metadata: sessionMetadata,
  /** The seq of the last message whose prompt the agent has; 0 before the first. */
  cursor: z.number(),
  /** Higher ones that the agent already has, or never will. */
  settled: z.array(z.number()).optional(),
  /** Whether a turn started and has not ended. */
  turn: z.string().nullable(),
  /** How far the agent's own recording was sent; null while output is sent in another way. */
  toldUpTo: z.object({ file: z.string(), offset: z.number() }).nullish(),
  /** Where the agent's recording of the turn starts, while output is sent live. */
  turnAt: z.object({ file: z.string(), offset: z.number() }).nullish(),
  /**
   * A prompt being handed to the agent, which may have it or not. `seq` is null for one from this terminal;
   * `isAhead`: others with lower ones wait; `edits`: the seqs of its edits.
   */
  handing: z
    .object({
      seq: z.number().nullable(),
      localId: z.string().nullish(),
      text: z.string(),
      isAhead: z.boolean().optional(),
      edits: z.array(z.number()).optional()
    })
    .nullish(),
  /**
   * A person's reasons for a no or a stop that the agent has not received: it gets them first, the oldest
   * first.
   */
  reasons: z.array(z.object({ localId: z.string(), text: z.string() })).optional(),
  /** The beginning of the first message; the title of a session that has none. */
  firstPrompt: z.string().optional(),
  /** Its process is ending it. */
  isEnding: z.boolean().optional(),
  /** It was resumed, and its agent does not run yet. */
  isStarting: z.boolean().optional(),
  /** Every file that the agent changed in it is recorded: it started here, and none of its processes was killed. */
  knowsEdits: z.boolean().optional(),
  /** Who ended it; absent while it runs, and if its process was killed. */
  endedBy: z.enum(['itself', 'person']).optional(),
  /**
   * It started with a version of ours that names what it seals: nameless text on the server was never
   * sealed by ours.
   */
  isNamed: z.boolean().optional(),
  /** An app of ours has written to it, and named what it sealed. */
  hearsNames: z.boolean().optional(),
  unanswered: unanswered.optional(),
  /** Notices for phones that are not sent, or sent and still open. */
  notices: z.array(keptNotice).optional(),
  /** The seq of the last message when it ended, read or not. */
  heardUpTo: z.number().optional()
})

/** What another process needs to finish a session. Only its owner can read it: it contains a key. */
export type SessionNotes = z.infer<typeof sessionNotes>

const startNotes = z.object({
  mode: z.string().optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
  /** The agent's first prompt. */
  prompt: z.string().optional(),
  /** A conversation of the agent to resume, in a new session. */
  resume: z.string().optional(),
  /** The session's description of itself. */
  about: z
    .object({
      parentSessionId: z.string().optional(),
      forkedFromMessageId: z.string().optional(),
      isSideChat: z.boolean().optional(),
      gitBranch: z.string().optional(),
      worktree: worktree.optional()
    })
    .optional()
})

/** Data for a session that the daemon starts. */
export type StartNotes = z.infer<typeof startNotes>

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
  return text === undefined ? {} : startNotes.parse(JSON.parse(text))
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

/** Before a session's process is told to end: its own notes do not say that a person wanted it. */
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

/**
 * The seq up to which messages do not resume an ended session: all of them, if a person ended it, otherwise
 * those the agent has.
 */
export function settledUpTo(known: Noted): number {
  const { cursor, heardUpTo = 0 } = known.notes
  return isEndedByPerson(known) ? Math.max(cursor, heardUpTo) : cursor
}

/** Names the person's last reason that its agent did not get, and that resumes it. */
export function reasonThatWakes(known: Noted): string | undefined {
  return isEndedByPerson(known) ? undefined : known.notes.reasons?.at(-1)?.localId
}
