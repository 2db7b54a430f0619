import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { worktree } from '../../protocol/sealed/worktree.ts'
import { makePrivateFolder, readPrivateFile, writePrivateFile } from './private-files.ts'

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
