import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { sessionMetadata, unanswered } from '../../protocol/sealed/session.ts'
import { worktree } from '../../protocol/sealed/worktree.ts'
import { keptNotice } from './notice-queue.ts'
import { appendPrivateFile, makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'

/** How an agent is started, as it is kept with its session so that another process can start it again. */
const agentProgram = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('claude') }),
  z.object({ kind: z.literal('codex') }),
  z.object({ kind: z.literal('demo') }),
  z.object({ kind: z.literal('opencode') }),
  z.object({ kind: z.literal('acp'), command: z.string(), args: z.array(z.string()) })
])

export type AgentProgram = z.infer<typeof agentProgram>

export const sessionNotes = z.object({
  /** Names the session on the server, also when it could not be opened there yet. */
  tag: z.string().regex(/^[\w-]{1,64}$/),
  /** The server knows it by a tag that was forgotten here: it is found there by its id. */
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
  /** Those above it that the agent has already, or never shall have. */
  settled: z.array(z.number()).optional(),
  /** Whether a turn was begun and not ended. */
  turn: z.string().nullable(),
  /** What the agent itself wrote down was told up to here; null while it is told in another way. */
  toldUpTo: z.object({ file: z.string(), offset: z.number() }).nullish(),
  /** Where what the agent writes down of the turn begins, while that is told as it comes. */
  turnAt: z.object({ file: z.string(), offset: z.number() }).nullish(),
  /** A prompt that is being handed to the agent: it may have it, or not. `seq` is null for one from this terminal; `isAhead`: others with lower ones wait; `edits`: the seqs of what replaced its words. */
  handing: z
    .object({
      seq: z.number().nullable(),
      localId: z.string().nullish(),
      text: z.string(),
      isAhead: z.boolean().optional(),
      edits: z.array(z.number()).optional()
    })
    .nullish(),
  /** Why a person said no or stopped a turn, which the agent was not told yet: it hears them first of all, the oldest first. */
  reasons: z.array(z.object({ localId: z.string(), text: z.string() })).optional(),
  /** The beginning of what was said first; names a session that has no title. */
  firstPrompt: z.string().optional(),
  /** Its process is bringing it to its end. */
  isEnding: z.boolean().optional(),
  /** It was resumed, and its agent does not run yet. */
  isStarting: z.boolean().optional(),
  /** Every file that the agent changed in it is noted: it began here, and no process of it was cut off. */
  knowsEdits: z.boolean().optional(),
  /** Who ended it; absent while it runs, and when its process was killed. */
  endedBy: z.enum(['itself', 'person']).optional(),
  /** It began with a version of ours that says what it seals: what lies on the server without a name was never sealed by ours. */
  isNamed: z.boolean().optional(),
  /** An app of ours has spoken to it, and said what it sealed for. */
  hearsNames: z.boolean().optional(),
  unanswered: unanswered.optional(),
  /** What phones have to be told, or were told of and is still open. */
  notices: z.array(keptNotice).optional(),
  /** The seq of the last message that was there when it ended, read or not. */
  heardUpTo: z.number().optional()
})

/** What has to be known of a session so that another process can bring it to its end. Only its owner can read it: it holds a key. */
export type SessionNotes = z.infer<typeof sessionNotes>

const startNotes = z.object({
  mode: z.string().optional(),
  model: z.string().optional(),
  effort: z.string().optional(),
  /** What the agent shall do first. */
  prompt: z.string().optional(),
  /** A conversation of the agent to go on with, in a new session. */
  resume: z.string().optional(),
  /** What the session shall say about itself. */
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

/** What a session that the daemon starts shall know. */
export type StartNotes = z.infer<typeof startNotes>

/** Only its owner can read them [W6]. Returns how to forget what was not taken. */
export function writeStart(home: string, tag: string, notes: StartNotes): () => void {
  const file = fileOf(home, tag)
  writePrivateFile(file, JSON.stringify(notes))
  return () => rmSync(file, { force: true })
}

/** What was written for the session of this tag; nothing the second time. */
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

/** Before a process that runs a session is told to end: what it notes by itself does not say that a person wanted it. */
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

/** The seq up to which messages do not bring an ended session back: all that were there, when a person ended it, else those the agent has. */
export function settledUpTo(known: Noted): number {
  const { cursor, heardUpTo = 0 } = known.notes
  return isEndedByPerson(known) ? Math.max(cursor, heardUpTo) : cursor
}

/** Names the last reason of a person that its agent did not hear, and that brings it back. */
export function reasonThatWakes(known: Noted): string | undefined {
  return isEndedByPerson(known) ? undefined : known.notes.reasons?.at(-1)?.localId
}
