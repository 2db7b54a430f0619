import * as z from 'zod'
import { sessionMetadata, unanswered } from '../../protocol/sealed/session.ts'
import { agentProgram } from './agent-program.ts'
import { keptNotice } from './notice-queue.ts'

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
